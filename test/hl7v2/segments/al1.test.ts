import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { items, read, stated, stored } from '../reading.ts';

const table = (number: string) => `http://terminology.hl7.org/CodeSystem/v2-${number}`;
const alternate = (number: string, code: string) => ({
	extension: [
		{
			url: 'http://hl7.org/fhir/StructureDefinition/alternate-codes',
			valueCodeableConcept: { coding: [{ system: table(number), code }] },
		},
	],
});
const allergy = (values: Record<number, string>) => stated('AL1', { 3: 'PCN^Penicillin^L', ...values });

describe('AL1 fields', () => {
	const types: [string, string | undefined, string | undefined][] = [
		['DA', 'medication', 'allergy'],
		['FA', 'food', 'allergy'],
		['EA', 'environment', 'allergy'],
		['AA', 'biologic', 'allergy'],
		['PA', 'environment', 'allergy'],
		['LA', 'environment', 'allergy'],
		['MA', undefined, 'allergy'],
		['MC', undefined, undefined],
		['DRUG', 'medication', undefined],
	];
	for (const [code, category, type] of types) {
		test(`AL1-2 ${code} is category ${category} and type ${type}`, () => {
			const { change, flags } = allergy({ 2: code });
			assert.deepEqual(change?.patch.elements['category'], category === undefined ? null : [category]);
			assert.deepEqual(change?.patch.elements['_category'], [alternate('0127', code)]);
			assert.equal(change?.patch.elements['type'], type ?? null);
			assert.deepEqual(flags, []);
		});
	}
	const severities: [string, string | null][] = [
		['SV', 'high'],
		['MO', null],
		['MI', 'low'],
		['U', 'unable-to-assess'],
	];
	for (const [code, criticality] of severities) {
		test(`AL1-4 ${code} is criticality ${criticality}`, () => {
			const { change, flags } = allergy({ 4: code });
			assert.equal(change?.patch.elements['criticality'], criticality);
			assert.deepEqual(change?.patch.elements['_criticality'], alternate('0128', code));
			assert.deepEqual(flags, []);
		});
	}
	for (const [field, number, element, sibling] of [
		[2, '0127', 'category', [alternate('0127', 'ZZ')]],
		[4, '0128', 'criticality', alternate('0128', 'ZZ')],
	] as const) {
		test(`AL1-${field} with a code that the table lacks is kept beside, and flagged without the code`, () => {
			const { change, flags } = allergy({ [field]: 'ZZ' });
			assert.equal(change?.patch.elements[element], null);
			assert.deepEqual(change?.patch.elements[`_${element}`], sibling);
			assert.deepEqual(flags, [
				`unreadable-value: AL1-${field} has a code that table ${number} does not list; it is kept as an alternate code`,
			]);
		});
	}
	test('AL1-5 repeats: manifestations of one reaction, as text, or as codes where senders put them there', () => {
		const { change } = allergy({ 5: 'SEIZURES~R1^Rash^L~ ~VOMITING' });
		assert.deepEqual(change?.patch.elements['reaction'], [
			{ manifestation: [{ text: 'SEIZURES' }, { coding: [{ code: 'R1', display: 'Rash' }], text: 'Rash' }, { text: 'VOMITING' }] },
		]);
	});
	test('AL1-6 is the onset, in whatever precision; no other type of onset stands beside it', () => {
		const { change } = allergy({ 6: '202012' });
		assert.equal(change?.patch.elements['onsetDateTime'], '2020-12');
		assert.equal(change?.patch.elements['onsetAge'], null);
		assert.equal(change?.patch.elements['onsetPeriod'], null);
	});
	test('AL1-6 that is no date is left out and flagged', () => {
		const { change, flags } = allergy({ 6: 'childhood' });
		assert.ok(change && !('onsetDateTime' in change.patch.elements));
		assert.deepEqual(flags, ['unreadable-value: AL1-6 is not a time and was left out']);
	});
	test('a field that is absent or blank says nothing, `""` removes', () => {
		assert.deepEqual(Object.keys(allergy({ 2: ' ', 4: '', 5: ' ', 6: ' ' }).change?.patch.elements ?? {}), ['code']);
		const elements = allergy({ 2: '""', 4: '""', 5: '""', 6: '""' }).change?.patch.elements ?? {};
		for (const element of ['category', '_category', 'type', 'criticality', '_criticality', 'reaction', 'onsetDateTime'])
			assert.equal(elements[element], null, element);
	});
	test('a new allergy is active', () => {
		assert.deepEqual(allergy({}).change?.initial?.elements, {
			clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }] },
		});
	});
});

describe('which allergy an AL1 speaks of', () => {
	const keys: [string, string, string][] = [
		['a code of a system', '7980^Penicillin^RXNORM', 'code http://www.nlm.nih.gov/research/umls/rxnorm|7980'],
		['a local code', 'PCN^Penicillin^L', 'code |PCN'],
		['a text, whatever its case and spacing', '^Bee  STING', 'text bee sting'],
		['an original text', '^^^^^^^^Grass', 'text grass'],
	];
	for (const [name, value, expected] of keys) {
		test(`is told by ${name}`, () => {
			assert.equal(stated('AL1', { 3: value }).change?.item, expected);
		});
	}
	test('a long text is a key of bounded length', () => {
		assert.equal(stated('AL1', { 3: `^${'long '.repeat(100)}` }).change?.item.length, 64);
	});
	for (const value of ['', ' ', '""', '^^L', '""^""']) {
		test(`AL1-3 "${value}" names none: it is left out and flagged, the message is taken`, () => {
			const { change, flags } = stated('AL1', { 2: 'DA', 3: value });
			assert.equal(change, undefined);
			assert.deepEqual(flags, ['segment-skipped: AL1 names no allergen (AL1-3) and was left out']);
		});
	}
	test('one allergen in two segments is one allergy: the later one wins, the reactions are all of it', () => {
		const set = read('ADT^A08', ['PID|1||100', 'AL1|1|FA|N^Nut^L|MI|Rash|2019', 'AL1|2||N^Nuts^L|SV|Asthma', 'AL1|3|FA|M^Milk^L']);
		const [nut, milk, ...others] = stored(items(set));
		assert.deepEqual(others, []);
		assert.equal(milk?.item, 'code |M');
		assert.deepEqual(nut?.patch.elements['category'], ['food']);
		assert.equal(nut?.patch.elements['criticality'], 'high');
		assert.equal(nut?.patch.elements['onsetDateTime'], '2019');
		assert.deepEqual(nut?.patch.elements['reaction'], [{ manifestation: [{ text: 'Rash' }] }, { manifestation: [{ text: 'Asthma' }] }]);
	});
	test('an allergy is the patient’s, not the visit’s', () => {
		const set = read('ADT^A01', ['PID|1||100', 'PV1|1|I|||||||||||||||||V1', 'AL1|1|FA|N^Nut^L']);
		assert.equal(items(set)[0]?.encounter, undefined);
	});
});
