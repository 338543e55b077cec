import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { standardVrOf } from '#dicom/dictionary.ts';
import { queryAttributeOf, queryAttributes } from '#dicom/query/attributes.ts';
import { issuerOfSystem, systemsOfIssuer } from '#dicom/query/issuer.ts';
import { clauseOf, MatchingError } from '#dicom/query/matching.ts';
import type { ImagingAttribute } from '#record/imaging-query.ts';

describe('a key of a query', () => {
	test('without a value, or with an asterisk alone, matches everything', () => {
		for (const value of ['', ' ', '*', '**', '\\', 'CT\\*']) assert.equal(clauseOf('ModalitiesInStudy', value), undefined, value);
		for (const value of ['^^', '*^*', '=']) assert.equal(clauseOf('PatientName', value), undefined, value);
		assert.equal(clauseOf('StudyInstanceUID', '*'), undefined);
		assert.equal(clauseOf('NumberOfStudyRelatedInstances', '5'), undefined);
	});

	test('of a date or a time is a range, to the precision that it has', () => {
		const range = (attribute: ImagingAttribute, value: string) => {
			const clause = clauseOf(attribute, value);
			return clause?.kind === 'range' ? [clause.from, clause.to] : assert.fail();
		};
		assert.deepEqual(range('StudyDate', '20240131'), ['2024-01-31', '2024-01-31']);
		assert.deepEqual(range('StudyDate', '2024.01.31 - '), ['2024-01-31', undefined]);
		assert.deepEqual(range('PatientBirthDate', '-19700101'), [undefined, '1970-01-01']);
		assert.deepEqual(range('StudyTime', '10'), ['10:00:00', '10:59:59']);
		assert.deepEqual(range('StudyTime', '1030-113059.999'), ['10:30:00', '11:30:59']);
	});

	test('that its attribute cannot have is refused, and the reason does not repeat it', () => {
		const wrong: [ImagingAttribute, string][] = [
			['StudyDate', '20241301'],
			['StudyDate', '-'],
			['StudyDate', '20240101-20240102-20240103'],
			['StudyTime', '2460'],
			['SeriesNumber', 'two'],
			['InstanceNumber', '99999999999'],
		];
		for (const [attribute, value] of wrong) {
			assert.throws(
				() => clauseOf(attribute, value),
				(error) => error instanceof MatchingError && error.message.startsWith(attribute) && !error.message.includes(value),
				value,
			);
		}
	});

	test('has the tag and VR of the dictionary', () => {
		for (const [keyword, { tag, vr }] of Object.entries(queryAttributes)) {
			assert.equal(standardVrOf(tag), vr, keyword);
			assert.equal(queryAttributeOf(tag), keyword);
		}
	});
});

test('issuers are known by local name, OID, UUID or URI', () => {
	for (const [system, issuer] of [
		['urn:id:A%20%26%20E', 'A & E'],
		['urn:oid:1.2.3', '1.2.3'],
		['urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66', '6e8bc430-9c3a-11d9-9669-0800200c9a66'],
		['https://example.org/mrn', 'https://example.org/mrn'],
	] as const) {
		assert.equal(issuerOfSystem(system), issuer);
		assert.ok(systemsOfIssuer(issuer).includes(system), system);
	}
	assert.equal(issuerOfSystem(''), undefined);
	assert.equal(issuerOfSystem('urn:id:%zz'), '%zz');
});
