import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { standardVrOf } from '#dicom/dictionary.ts';
import { queryAttributeOf, queryAttributes } from '#dicom/query/attributes.ts';
import { IdentifierReader } from '#dicom/query/identifier.ts';
import { questionOf, selectionOf } from '#dicom/query/information-model.ts';
import { issuerOfSystem, systemsOfIssuer } from '#dicom/query/issuer.ts';
import { clausesOf, MatchingError } from '#dicom/query/matching.ts';
import { planQuery } from '#dicom/query/plan.ts';
import { explicitLittleEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import type { ImagingAttribute } from '#record/imaging-query.ts';
import { element, sequence } from '#test/support/data-set.ts';
import { fc, runs } from '#test/support/fuzzing.ts';

describe('a key of a query', () => {
	test('without a value, or with an asterisk alone, matches everything', () => {
		for (const value of ['', ' ', '*', '**', '\\', 'CT\\*']) assert.deepEqual(clausesOf('ModalitiesInStudy', value), [], value);
		for (const value of ['^^', '*^*', '=', '*=^']) assert.deepEqual(clausesOf('PatientName', value), [], value);
		assert.deepEqual(clausesOf('StudyInstanceUID', '*'), []);
		assert.deepEqual(clausesOf('NumberOfStudyRelatedInstances', '5'), []);
	});

	test('of a date or a time is a range, to the precision that it has', () => {
		const range = (attribute: ImagingAttribute, value: string) => {
			const [clause] = clausesOf(attribute, value);
			return clause?.kind === 'range' ? [clause.from, clause.to] : assert.fail();
		};
		assert.deepEqual(range('StudyDate', '20240131'), ['2024-01-31', '2024-01-31']);
		assert.deepEqual(range('StudyDate', '2024.01.31 - '), ['2024-01-31', undefined]);
		assert.deepEqual(range('PatientBirthDate', '-19700101'), [undefined, '1970-01-01']);
		assert.deepEqual(range('StudyTime', '10'), ['10:00:00', '10:59:59']);
		assert.deepEqual(range('StudyTime', '1030-113059.999'), ['10:30:00', '11:30:59']);
	});

	test('of a name has a clause for each component group', () => {
		assert.deepEqual(clausesOf('PatientName', 'Yamada*=山田^太郎=='), [
			{ kind: 'like', attribute: 'PatientName', patterns: ['Yamada*'], group: 0 },
			{ kind: 'equals', attribute: 'PatientName', values: ['山田^太郎'], group: 1 },
		]);
		assert.deepEqual(clausesOf('PatientName', '*==やまだ^*'), [
			{ kind: 'like', attribute: 'PatientName', patterns: ['やまだ', 'やまだ^*'], group: 2 },
		]);
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
				() => clausesOf(attribute, value),
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

describe('an identifier', () => {
	const given = Buffer.concat([
		element(0x0008_0005, 'CS', 'ISO_IR 100'),
		element(0x0008_0020, 'DA', '20240101-'),
		element(0x0008_0052, 'CS', 'IMAGE'),
		element(0x0010_0010, 'PN', 'M\xfcller*'),
		element(0x0010_0020, 'LO', 'P1'),
		element(0x0020_000d, 'UI', '1.2'),
		element(0x0020_000e, 'UI', '1.3'),
		element(0x0028_0010, 'US', 512),
		sequence(0x0040_0275, [element(0x0040_0007, 'LO', 'x')]),
	]);

	test('is read by tag, in its character set; sequences are unknown keys', () => {
		const reader = new IdentifierReader(explicitLittleEndian, 10_000);
		reader.feed(given);
		const identifier = reader.end();
		assert.ok('elements' in identifier);
		const { level, keys, hasUnknownKeys } = questionOf('patient-root', identifier, { relational: false });
		assert.deepEqual([level, hasUnknownKeys], ['IMAGE', true]);
		assert.deepEqual(Object.fromEntries(keys.map(({ attribute, value }) => [attribute, value])), {
			StudyDate: '20240101-',
			PatientName: 'Müller*',
			PatientID: 'P1',
			StudyInstanceUID: '1.2',
			SeriesInstanceUID: '1.3',
			Rows: '512',
		});
		assert.throws(() => selectionOf('patient-root', identifier, { relational: false }), /SOPInstanceUID is missing/);
	});

	test('of any bytes is a fault, does not fit, or is a query', () => {
		const change = fc.tuple(fc.nat(given.length - 1), fc.integer({ min: 0, max: 255 }));
		const syntax = fc.constantFrom(explicitLittleEndian, implicitLittleEndian, '1.2.840.10008.1.2.1.99');
		fc.assert(
			fc.property(fc.array(change, { maxLength: 12 }), fc.nat(given.length), syntax, (changes, length, transferSyntax) => {
				const bytes = Buffer.from(given);
				for (const [at, byte] of changes) bytes[at] = byte;
				const reader = new IdentifierReader(transferSyntax, 10_000);
				for (let at = 0; at < length; at += 7) reader.feed(bytes.subarray(at, Math.min(at + 7, length)));
				const identifier = reader.end();
				if ('fault' in identifier) return;
				try {
					const { level, keys } = questionOf('study-root', identifier, { relational: true });
					planQuery({ level, keys, combinesMoments: true, count: 1 });
				} catch (error) {
					if (!(error instanceof MatchingError)) throw error;
				}
			}),
			{ numRuns: runs(5000) },
		);
	});
});
