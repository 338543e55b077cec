import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exactDecimal, type Json, type JsonObject, parseExact } from '#core/json.ts';
import { issuesMax, validateResource } from '#fhir/validation/validate.ts';
import {
	allergy,
	bundle,
	code,
	coded,
	condition,
	document,
	extended,
	narrated,
	observation,
	patient,
	period,
	practitioner,
	range,
	terminology,
	without,
} from '#test/support/fhir-samples.ts';

function issuesOf(resource: JsonObject, ...options: [Parameters<typeof validateResource>[1]?]): string[] {
	return validateResource(resource, ...options).map((issue) => `${issue.code} ${issue.expression}`);
}

const request = { method: 'POST', url: 'Patient' };

describe('what is taken', () => {
	const rows: [title: string, resource: JsonObject][] = [
		['a type alone', patient()],
		['a value that only an extension stands for', patient({ _gender: { extension: [{ url: 'a', valueCode: 'unknown' }] } })],
		[
			'a required value that only an extension stands for',
			{ ...without(observation(), 'status'), _status: { extension: [{ url: 'a', valueCode: 'b' }] } },
		],
		[
			'a list whose second value is an extension',
			patient({ name: [{ given: ['a', null], _given: [null, { extension: [{ url: 'a', valueCode: 'b' }] }] }] }),
		],
		['siblings fewer than values', patient({ name: [{ given: ['a', 'b'], _given: [{ id: 'c' }] }] })],
		['siblings without values', patient({ name: [{ _given: [{ extension: [{ url: 'a', valueCode: 'b' }] }] }] })],
		['an extension in an extension', extended({ extension: [{ url: 'b', valueQuantity: { value: exactDecimal('1.00') } }] })],
		['a leap day and a leap second', observation({ issued: '2000-02-29T23:59:60.123456789+14:00' })],
		['a year', patient({ birthDate: '1970' })],
		[
			'decimals in every notation',
			observation({
				component: ['1.00', '-0.0', '1e3', '1.50E-245', '12345678901234567890'].map((value) => ({
					code,
					valueQuantity: { value: exactDecimal(value) },
				})),
			}),
		],
		['zero and the largest whole number', observation({ valueInteger: 0, component: [{ code, valueInteger: 2_147_483_647 }] })],
		[
			'references in all forms',
			observation({
				focus: [
					'Patient/1',
					'Claim/a.b-c/_history/2',
					'http://a/b',
					'urn:uuid:0c369b60-4d48-4b57-b3b4-9ac24f7ec6a5',
					'urn:oid:1.2.3',
					'a',
				].map((reference) => ({ reference })),
			}),
		],
		['a reference by identifier', observation({ subject: { type: 'Patient', identifier: { value: 'a' }, display: 'b' } })],
		['a URL to a type that is meant', observation({ subject: { reference: 'https://example.org/fhir/Patient/1/_history/2' } })],
		['a contained resource', patient({ contained: [practitioner], generalPractitioner: [{ reference: '#gp' }] })],
		['a contained organization of which nothing is known (org-1)', patient({ contained: [{ resourceType: 'Organization', id: 'a' }] })],
		[
			'a contained resource that refers to its container and its neighbour',
			observation({
				contained: [
					{ ...observation({ hasMember: [{ reference: '#' }, { reference: '#b' }] }), id: 'a' },
					{ ...observation(), id: 'b' },
				],
			}),
		],
		[
			'a required concept with a further coding and text',
			condition({
				clinicalStatus: { coding: [{ code: 'x' }, { system: `${terminology}/condition-clinical`, code: 'relapse' }], text: 'a' },
			}),
		],
		[
			'a condition that is over',
			condition({ abatementDateTime: '2020', clinicalStatus: coded(`${terminology}/condition-clinical`, 'resolved') }),
		],
		[
			'an allergy that was entered in error',
			{
				...without(allergy(), 'clinicalStatus'),
				verificationStatus: coded(`${terminology}/allergyintolerance-verification`, 'entered-in-error'),
			},
		],
		['a day as a period', period('2020-01-01', '2020-01-01')],
		['a period whose end is less precise', period('2020-05-17T10:00:00Z', '2020-05')],
		['a day and a time that are alike in some zone', period('2020-01-02', '2020-01-01T12:00:00Z')],
		['a range of different units', range({ value: 2, unit: 'a' }, { value: 1, unit: 'b' })],
		['base64 in lines', document({ contentType: 'text/plain; charset=utf-8', data: 'YWJj\r\nZA==' })],
		[
			'a narrative',
			narrated(
				'<!-- a --><h1 class="a">A &amp; B&#160;&lt;</h1><table border="1"><tr><td colspan=\'2\'>1<br/></td></tr></table><a href="http://a">a</a><img src="data:image/png;base64,AA" alt="a"/>',
			),
		],
		['white space and tabs in a text', patient({ name: [{ text: ' a\t\r\nb ' }] })],
		['text beyond the basic plane', patient({ name: [{ family: '𠮷😀' }] })],
		[
			'a reference by a search in a transaction',
			bundle('transaction', { resource: observation({ subject: { reference: 'Patient?identifier=a' } }), request }),
		],
		['the same fullUrl twice in a batch', bundle('batch', { fullUrl: 'http://a', request }, { fullUrl: 'http://a', request })],
		[
			'a searchset',
			{
				...bundle('searchset', {
					fullUrl: 'http://a/Patient/1',
					resource: patient({ id: '1' }),
					search: { mode: 'match', score: exactDecimal('0.5') },
				}),
				total: 1,
			},
		],
		[
			'a history',
			bundle(
				'history',
				{ request, response: { status: '201' }, resource: patient() },
				{ request: { method: 'DELETE', url: 'Patient/1' }, response: { status: '204' } },
			),
		],
		[
			'an outcome',
			{ resourceType: 'OperationOutcome', issue: [{ severity: 'error', code: 'too-costly', expression: ['Patient.name[0]'] }] },
		],
	];
	for (const [title, resource] of rows) {
		test(title, () => {
			assert.deepEqual(validateResource(resource), []);
			assert.deepEqual(validateResource(parseExact(JSON.stringify(resource))), []);
		});
	}
});

describe('options', () => {
	const searched = observation({ subject: { reference: 'Patient?identifier=a' } });

	test('conditionalReferences takes a search for a reference', () => {
		assert.deepEqual(issuesOf(searched, { conditionalReferences: true }), []);
		assert.deepEqual(issuesOf(observation({ encounter: { reference: 'Patient?identifier=a' } }), { conditionalReferences: true }), [
			'value Observation.encounter',
		]);
	});

	test('without entryResources the entries of a Bundle are left to the caller, but for their types', () => {
		const faulty = bundle('collection', { resource: patient({ gender: 'M' }) }, { resource: { resourceType: 'Doctor' } });
		assert.deepEqual(issuesOf(faulty, { entryResources: false }), ['structure Bundle.entry[1].resource.resourceType']);
	});
});

describe('what is said', () => {
	test('every fault is an issue of its own', () => {
		const faulty = patient({
			gender: 's3cret',
			birthDate: 's3cret',
			name: [{ given: ['a', 's3cret\u0000'], use: 's3cret' }],
			contact: [{}],
		});
		const issues = validateResource(faulty);
		assert.deepEqual(issues.map(({ expression }) => expression).sort(), [
			'Patient.birthDate',
			'Patient.contact[0]',
			'Patient.contact[0]',
			'Patient.gender',
			'Patient.name[0].given[1]',
			'Patient.name[0].use',
		]);
		assert.doesNotMatch(JSON.stringify(issues), /s3cret/);
	});

	test(`at most ${issuesMax} faults are told, and that there are more`, () => {
		const given: Json[] = Array.from({ length: 100_000 }, () => '');
		const issues = validateResource(patient({ name: [{ given, prefix: given }] }));
		assert.equal(issues.length, issuesMax);
		assert.deepEqual(issues.at(-1), { code: 'too-costly', expression: 'Patient', diagnostics: 'There are more faults than these 49' });
		const unknown = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`a${index}`, 1]));
		assert.equal(validateResource(patient(unknown)).length, issuesMax);
		assert.equal(
			validateResource(bundle('transaction', ...Array.from({ length: 10_000 }, () => ({ resource: patient() })))).length,
			issuesMax,
		);
	});

	test('elements that are nested without end are a fault, not a crash', () => {
		let extension: JsonObject = { url: 'a', valueCode: 'b' };
		for (let depth = 0; depth < 100_000; depth++) extension = { url: 'a', extension: [extension] };
		assert.equal(issuesOf(patient({ extension: [extension] })).length, 1);
		let parameter: JsonObject = { name: 'a', valueCode: 'b' };
		for (let depth = 0; depth < 100_000; depth++)
			parameter = { name: 'a', resource: { resourceType: 'Parameters', parameter: [parameter] } };
		assert.equal(issuesOf({ resourceType: 'Parameters', parameter: [parameter] }).length, 1);
	});
});
