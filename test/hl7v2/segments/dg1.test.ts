import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { items, read, stated, stored } from '../reading.ts';

const status = (code: string) => ({ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-ver-status', code }] });
const diagnosis = (values: Record<number, string>) => stated('DG1', { 3: 'E11^Diabetes^I10', ...values });
const elementsOf = (values: Record<number, string>) => diagnosis(values).change?.patch.elements ?? {};

describe('DG1 fields', () => {
	const rows: { name: string; values: Record<number, string>; element: string; expected: unknown }[] = [
		{
			name: 'DG1-3 is the code',
			values: {},
			element: 'code',
			expected: { coding: [{ system: 'http://hl7.org/fhir/sid/icd-10', code: 'E11', display: 'Diabetes' }], text: 'Diabetes' },
		},
		{
			name: 'DG1-4 is its text',
			values: { 4: 'Diabetes type 2' },
			element: 'code',
			expected: { coding: [{ system: 'http://hl7.org/fhir/sid/icd-10', code: 'E11', display: 'Diabetes' }], text: 'Diabetes type 2' },
		},
		...['E11^Diabetes^I10^^DM2', 'E11^Diabetes^I10^^DM2^L'].map((field) => ({
			name: `a local name without a code is a coding with a name alone: ${field}`,
			values: { 3: field },
			element: 'code',
			expected: {
				coding: [{ system: 'http://hl7.org/fhir/sid/icd-10', code: 'E11', display: 'Diabetes' }, { display: 'DM2' }],
				text: 'Diabetes',
			},
		})),
		{
			name: 'DG1-2 is the coding system where DG1-3 names none',
			values: { 2: 'I9', 3: '25000' },
			element: 'code',
			expected: { coding: [{ system: 'http://hl7.org/fhir/sid/icd-9-cm', code: '25000' }] },
		},
		{ name: 'DG1-4 alone is a text', values: { 3: '', 4: 'Back pain' }, element: 'code.text', expected: 'Back pain' },
		{ name: 'DG1-5 is the onset', values: { 5: '20240102' }, element: 'onsetDateTime', expected: '2024-01-02' },
		{ name: 'DG1-6 A is provisional', values: { 6: 'A' }, element: 'verificationStatus', expected: status('provisional') },
		{ name: 'DG1-6 W is provisional', values: { 6: 'W' }, element: 'verificationStatus', expected: status('provisional') },
		{ name: 'DG1-6 F is confirmed', values: { 6: 'F' }, element: 'verificationStatus', expected: status('confirmed') },
		{ name: 'DG1-6 "" removes', values: { 6: '""' }, element: 'verificationStatus', expected: null },
		{
			name: 'DG1-16 is the asserter, the first of them',
			values: { 16: '17^Bonn^Ann^^^Dr~18^Other' },
			element: 'asserter',
			expected: { type: 'Practitioner', identifier: { value: '17' }, display: 'Dr Ann Bonn' },
		},
		{ name: 'DG1-19 is the recorded date', values: { 19: '202401021530' }, element: 'recordedDate', expected: '2024-01-02T15:30:00+01:00' },
	];
	for (const { name, values, element, expected } of rows) {
		test(name, () => {
			assert.deepEqual(elementsOf(values)[element], expected);
		});
	}
	test('DG1-19 is the asserted date too, DG1-22 the diagnosis that it is due to; `""` removes both', () => {
		const assertedDate = 'http://hl7.org/fhir/StructureDefinition/condition-assertedDate';
		const dueTo = 'http://hl7.org/fhir/StructureDefinition/condition-dueTo';
		assert.deepEqual(diagnosis({ 19: '20240102', 22: 'D7^CLIN' }).change?.patch.parts['extension'], {
			[assertedDate]: [{ url: assertedDate, valueDateTime: '2024-01-02' }],
			[dueTo]: [{ url: dueTo, valueReference: { type: 'Condition', identifier: { system: 'urn:id:CLIN', value: 'D7' } } }],
		});
		const { change } = diagnosis({ 19: '""', 22: '""' });
		assert.deepEqual(change?.patch.parts['extension'], { [assertedDate]: null, [dueTo]: null });
		assert.equal(change?.patch.elements['recordedDate'], null);
	});
	const unreadable: [number, string, string][] = [
		[5, 'yesterday', 'is not a time and was left out'],
		[6, 'ZZ', 'has a code that table 0052 does not list and was left out'],
		[19, '2024-13', 'is not a time and was left out'],
		[21, 'Q', 'has a code that table 0206 does not list and was left out'],
	];
	for (const [field, value, rule] of unreadable) {
		test(`DG1-${field} "${value}" is left out and flagged; the rest stands`, () => {
			const { change, flags } = diagnosis({ [field]: value });
			assert.deepEqual(Object.keys(change?.patch.elements ?? {}), ['code']);
			assert.deepEqual(flags, [`unreadable-value: DG1-${field} ${rule}`]);
		});
	}
	test('a new condition is an active encounter diagnosis', () => {
		const elements = diagnosis({ 20: 'D1^CLIN' }).change?.initial?.elements ?? {};
		assert.match(JSON.stringify(elements['clinicalStatus']), /condition-clinical","code":"active"/);
		assert.match(JSON.stringify(elements['category']), /condition-category","code":"encounter-diagnosis"/);
		assert.deepEqual(elements['identifier'], [{ system: 'urn:id:CLIN', value: 'D1' }]);
	});
});

describe('which condition a DG1 speaks of', () => {
	const keys: [string, Record<number, string>, string][] = [
		['DG1-20', { 3: 'E11^^I10', 20: 'D1^CLIN^1.2.3^ISO' }, 'identifier urn:oid:1.2.3|D1'],
		['DG1-20 without anything else', { 20: 'D1' }, 'identifier |D1'],
		['the code', { 3: 'E11^^I10', 4: 'x' }, 'code http://hl7.org/fhir/sid/icd-10|E11'],
		['the text of DG1-4', { 3: '^Pain^I9', 4: 'Back Pain' }, 'text back pain'],
		['the text of DG1-3', { 3: '^Pain^I9' }, 'text pain'],
	];
	for (const [name, values, expected] of keys) {
		test(`is told by ${name}`, () => {
			assert.equal(stated('DG1', values).change?.item, expected);
		});
	}
	test('an identifier that is too long for a key refuses nothing', () => {
		const { change, flags } = stated('DG1', { 20: 'D'.repeat(300) });
		assert.equal(change?.item.length, 64);
		assert.deepEqual(flags, []);
	});
	for (const values of [{ 6: 'A' }, { 3: '""' }, { 3: '""', 4: '""' }, { 3: '^^I10' }]) {
		test(`${JSON.stringify(values)} names none: it is left out and flagged`, () => {
			const { change, flags } = stated('DG1', values);
			assert.equal(change, undefined);
			assert.deepEqual(flags, ['segment-skipped: DG1 names no diagnosis (DG1-3, DG1-4 or DG1-20) and was left out']);
		});
	}
	test('the same code as admitting and as final diagnosis is one condition, which the final one speaks for', () => {
		for (const segments of [
			['DG1|1||E11^^I10||20240101|A', 'DG1|2||E11^^I10|||F'],
			['DG1|1||E11^^I10|||F', 'DG1|2||E11^^I10||20240101|A'],
		]) {
			const [condition, ...others] = stored(items(read('ADT^A08', ['PID|1||100', ...segments])));
			assert.deepEqual(others, []);
			assert.deepEqual(condition?.patch.elements['verificationStatus'], status('confirmed'));
			assert.equal(condition?.patch.elements['onsetDateTime'], '2024-01-01');
		}
	});
	test('unless DG1-20 tells them apart', () => {
		const set = read('ADT^A08', ['PID|1||100', 'DG1|1||E11^^I10|||A||||||||||||||D1', 'DG1|2||E11^^I10|||F||||||||||||||D2']);
		assert.deepEqual(
			items(set).map(({ item }) => item),
			['identifier |D1', 'identifier |D2'],
		);
	});
	test('it belongs to the visit of the message', () => {
		const set = read('ADT^A01', ['PID|1||100', 'PV1|1|I|||||||||||||||||V1', 'DG1|1||E11^^I10']);
		assert.equal(items(set)[0]?.encounter, 0);
		assert.equal(items(read('ADT^A01', ['PID|1||100', 'DG1|1||E11^^I10']))[0]?.encounter, undefined);
	});
});

describe('a diagnosis that is withdrawn', () => {
	test('DG1-21 D makes it entered in error, without clinical status, and changes nothing else', () => {
		const { change } = diagnosis({ 4: 'other', 5: '2024', 6: 'F', 21: 'D' });
		assert.equal(change?.unknown, 'ignore');
		assert.deepEqual(change?.patch.elements['verificationStatus'], status('entered-in-error'));
		assert.equal(change?.patch.elements['clinicalStatus'], null);
		assert.equal(change?.patch.elements['abatementDateTime'], null);
		assert.ok(change && !('code' in change.patch.elements) && !('onsetDateTime' in change.patch.elements));
	});
	for (const code of ['A', 'U', 'X', '']) {
		test(`DG1-21 "${code}" states it`, () => {
			assert.equal(diagnosis({ 21: code }).change?.unknown, 'create');
		});
	}
	test('a message that withdraws and states the same diagnosis states it', () => {
		const withdrawn = 'DG1|1||E11^^I10|||F|||||||||||||||D';
		for (const segments of [
			[withdrawn, 'DG1|2||E11^^I10|||A'],
			['DG1|2||E11^^I10|||A', withdrawn],
		]) {
			const [condition, ...others] = items(read('ADT^A08', ['PID|1||100', ...segments]));
			assert.deepEqual(others, []);
			assert.equal(condition?.unknown, 'create');
		}
	});
});
