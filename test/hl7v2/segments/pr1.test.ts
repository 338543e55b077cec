import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { items, read, stated } from '../reading.ts';

const procedure = (values: Record<number, string>) => stated('PR1', { 3: '45380^Colonoscopy^C4', ...values });
const elementsOf = (values: Record<number, string>) => procedure(values).change?.patch.elements ?? {};
const cpt = 'http://www.ama-assn.org/go/cpt';

describe('PR1 fields', () => {
	const rows: { name: string; values: Record<number, string>; element: string; expected: unknown }[] = [
		{
			name: 'PR1-3 is the code, PR1-4 its text',
			values: { 4: 'Colonoscopy with biopsy' },
			element: 'code',
			expected: { coding: [{ system: cpt, code: '45380', display: 'Colonoscopy' }], text: 'Colonoscopy with biopsy' },
		},
		{
			name: 'PR1-3.9, the original text, wins over PR1-4',
			values: { 3: '45380^^C4^^^^^^As said', 4: 'x' },
			element: 'code',
			expected: { coding: [{ system: cpt, code: '45380' }], text: 'As said' },
		},
		{
			name: 'PR1-2 is the coding system where PR1-3 names none',
			values: { 2: 'C4', 3: '45380' },
			element: 'code',
			expected: { coding: [{ system: cpt, code: '45380' }] },
		},
		{ name: 'PR1-5 is when it was performed', values: { 5: '20240102' }, element: 'performedDateTime', expected: '2024-01-02' },
		{
			name: 'PR1-6 is the category',
			values: { 6: 'D' },
			element: 'category',
			expected: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0230', code: 'D' }] },
		},
		{
			name: 'PR1-15 is the reason',
			values: { 15: 'E11^Diabetes^I10' },
			element: 'reasonCode',
			expected: [{ coding: [{ system: 'http://hl7.org/fhir/sid/icd-10', code: 'E11', display: 'Diabetes' }], text: 'Diabetes' }],
		},
		{ name: 'PR1-23 is the place', values: { 23: 'OR^2' }, element: 'location', expected: { type: 'Location', display: 'OR, 2' } },
		{
			name: 'PR1-25 is what it is part of',
			values: { 25: 'P7^OR' },
			element: 'partOf',
			expected: [{ type: 'Procedure', identifier: { system: 'urn:id:OR', value: 'P7' } }],
		},
	];
	for (const { name, values, element, expected } of rows) {
		test(name, () => {
			assert.deepEqual(elementsOf(values)[element], expected);
		});
	}
	const periods: [string, Record<number, string>, unknown][] = [
		['minutes', { 5: '202401022330', 7: '45' }, { start: '2024-01-02T23:30:00+01:00', end: '2024-01-03T00:15:00+01:00' }],
		[
			'an offset and a fraction',
			{ 5: '20240228235959.5-0500', 7: '1' },
			{ start: '2024-02-28T23:59:59.5-05:00', end: '2024-02-29T00:00:59.5-05:00' },
		],
		['a part of a minute', { 5: '202401020000', 7: '1.5' }, { start: '2024-01-02T00:00:00+01:00', end: '2024-01-02T00:01:30+01:00' }],
	];
	for (const [name, values, expected] of periods) {
		test(`PR1-7 makes PR1-5 a period: ${name}`, () => {
			assert.deepEqual(elementsOf(values)['performedPeriod'], expected);
			assert.equal(elementsOf(values)['performedDateTime'], null);
		});
	}
	test('PR1-7 beside a time that is not given to the minute makes no period', () => {
		for (const time of ['20240102', '2024010215']) {
			assert.match(String(elementsOf({ 5: time, 7: '45' })['performedDateTime']), /^2024-01-02/);
			assert.equal(elementsOf({ 5: time, 7: '45' })['performedPeriod'], null);
		}
	});
	test('a period that would end behind the year 9999 is a time', () => {
		assert.equal(elementsOf({ 5: '999912312300', 7: '999999' })['performedDateTime'], '9999-12-31T23:00:00+01:00');
	});
	test('PR1-8, 11 and 12 are performers, each a share of the list', () => {
		const { change } = procedure({ 8: '1^Ane', 11: '2^Sur~3^Geon', 12: '""' });
		const snomed = 'http://snomed.info/sct';
		const actor = (value: string, display: string) => ({ type: 'Practitioner', identifier: { value }, display });
		const surgeon = { coding: [{ system: snomed, code: '304292004', display: 'Surgeon' }] };
		assert.deepEqual(change?.patch.parts['performer'], {
			'304292004': [
				{ function: surgeon, actor: actor('2', 'Sur') },
				{ function: surgeon, actor: actor('3', 'Geon') },
			],
			'88189002': [{ function: { coding: [{ system: snomed, code: '88189002', display: 'Anesthesiologist' }] }, actor: actor('1', 'Ane') }],
			'': null,
		});
	});
	test('`""` removes', () => {
		const elements = elementsOf({ 5: '""', 6: '""', 15: '""', 23: '""', 25: '""' });
		for (const element of ['performedDateTime', 'performedPeriod', 'category', 'reasonCode', 'location', 'partOf'])
			assert.equal(elements[element], null, element);
	});
	for (const [field, value, rule] of [
		[5, 'noon', 'is not a time and was left out'],
		[7, 'an hour', 'is not a number of minutes and was left out'],
		[20, 'Q', 'has a code that table 0206 does not list and was left out'],
	] as const) {
		test(`PR1-${field} "${value}" is left out and flagged; the rest stands`, () => {
			const { change, flags } = procedure({ 5: '202401021530', [field]: value });
			assert.equal(change?.unknown, 'create');
			assert.deepEqual(flags, [`unreadable-value: PR1-${field} ${rule}`]);
		});
	}
	test('a new procedure is completed', () => {
		assert.deepEqual(procedure({ 19: 'P1^OR' }).change?.initial?.elements, {
			identifier: [{ system: 'urn:id:OR', value: 'P1' }],
			status: 'completed',
		});
	});
});

describe('which procedure a PR1 speaks of', () => {
	const keys: [string, Record<number, string>, string][] = [
		['PR1-19', { 3: '1^^C4', 5: '2024', 19: 'P1^OR' }, 'identifier urn:id:OR|P1'],
		['the code and the time', { 3: '1^^C4', 5: '202401021530' }, `code ${cpt}|1 2024-01-02T15:30:00+01:00`],
		['the code where there is no time', { 3: '1^^C4' }, `code ${cpt}|1`],
		['the text and the time', { 4: 'Appendectomy', 5: '20240102' }, 'text appendectomy 2024-01-02'],
	];
	for (const [name, values, expected] of keys) {
		test(`is told by ${name}`, () => {
			assert.equal(stated('PR1', values).change?.item, expected);
		});
	}
	test('none: it is left out and flagged', () => {
		const { change, flags } = stated('PR1', { 3: '""', 5: '2024' });
		assert.equal(change, undefined);
		assert.deepEqual(flags, ['segment-skipped: PR1 names no procedure (PR1-3, PR1-4 or PR1-19) and was left out']);
	});
	test('PR1-20 D withdraws it', () => {
		const { change } = procedure({ 5: '2024', 20: 'D' });
		assert.equal(change?.unknown, 'ignore');
		assert.deepEqual(change?.patch, { elements: { status: 'entered-in-error' }, parts: {} });
	});
	test('the same at another time is another procedure; it belongs to the visit of the message', () => {
		const set = read('ADT^A01', ['PID|1||100', 'PV1|1|I|||||||||||||||||V1', 'PR1|1||1^^C4||2023', 'PR1|2||1^^C4||2024']);
		assert.equal(items(set).length, 2);
		assert.deepEqual(
			items(set).map(({ encounter }) => encounter),
			[0, 0],
		);
	});
});
