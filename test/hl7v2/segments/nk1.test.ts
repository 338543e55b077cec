import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldsOf, patients, read, stored } from '../reading.ts';

function contactsOf(...segments: Record<number, string>[]) {
	const set = read('ADT^A08', ['PID|1||100', ...segments.map((values) => fieldsOf('NK1', values))]);
	const parts = stored(patients(set)[0]?.patch.parts ?? {});
	return { contacts: parts['contact']?.['NK1'], flags: set.flags.map(({ code, text }) => `${code}: ${text}`) };
}

const roleCode = 'http://terminology.hl7.org/CodeSystem/v3-RoleCode';
const table = (number: string) => `http://terminology.hl7.org/CodeSystem/v2-${number}`;

describe('NK1 fields', () => {
	const name = { use: 'official', text: 'Bob Smith', family: 'Smith', given: ['Bob'] };
	const rows: { title: string; values: Record<number, string>; element: string; expected: unknown }[] = [
		{ title: 'NK1-2 is the name, the first of them', values: { 2: 'Smith^Bob^^^^^L~Smyth^Bob' }, element: 'name', expected: name },
		{
			title: 'NK1-3 is the relationship, in v3 where it has a counterpart',
			values: { 3: 'SPO^Spouse^HL70063' },
			element: 'relationship',
			expected: [
				{
					coding: [
						{ system: roleCode, code: 'SPS', display: 'spouse' },
						{ system: table('0063'), code: 'SPO', display: 'Spouse' },
					],
					text: 'Spouse',
				},
			],
		},
		{
			title: 'other relationships stay as sent; NK1-7 is one of its own',
			values: { 3: 'Neighbour', 7: 'C' },
			element: 'relationship',
			expected: [{ coding: [{ system: table('0063'), code: 'Neighbour' }] }, { coding: [{ system: table('0131'), code: 'C' }] }],
		},
		{
			title: 'NK1-4 is the address, the first of them',
			values: { 4: '1 Oak Ave^^Metropolis~2 Elm' },
			element: 'address',
			expected: { text: '1 Oak Ave, Metropolis', line: ['1 Oak Ave'], city: 'Metropolis' },
		},
		{
			title: 'NK1-5, 6 (work) and 40 are telecom',
			values: { 5: '1~2^PRN^CP', 6: '3', 40: '4' },
			element: 'telecom',
			expected: [
				{ system: 'phone', value: '1' },
				{ system: 'phone', value: '2', use: 'home' },
				{ system: 'phone', value: '3', use: 'work' },
				{ system: 'phone', value: '4' },
			],
		},
		{
			title: 'NK1-8 and 9 are the period',
			values: { 8: '2020', 9: '20240102' },
			element: 'period',
			expected: { start: '2020', end: '2024-01-02' },
		},
		{
			title: 'NK1-13 is the organization',
			values: { 13: 'Builders^^77' },
			element: 'organization',
			expected: { type: 'Organization', identifier: { value: '77' }, display: 'Builders' },
		},
		{ title: 'NK1-15 is the gender', values: { 15: 'M' }, element: 'gender', expected: 'male' },
	];
	for (const { title, values, element, expected } of rows) {
		test(title, () => {
			const { contacts, flags } = contactsOf({ 2: 'Smith', ...values });
			assert.deepEqual(contacts?.[0]?.[element], expected);
			assert.deepEqual(flags, []);
		});
	}
	for (const [field, value, rule] of [
		[8, 'then', 'is not a time and was left out'],
		[15, 'ZZ', 'has a code that table 0001 does not list; read as unknown'],
	] as const) {
		test(`NK1-${field} "${value}" is flagged`, () => {
			assert.deepEqual(contactsOf({ 2: 'Smith', [field]: value }).flags, [`unreadable-value: NK1-${field} ${rule}`]);
		});
	}
});

describe('the contacts of a message', () => {
	test('are the whole list, each marked as NK1’s', () => {
		const { contacts } = contactsOf({ 1: '1', 2: 'A' }, { 1: '2', 13: 'B' });
		assert.deepEqual(
			contacts?.map(({ id }) => id),
			['NK1.1', 'NK1.2'],
		);
	});
	test('one without name, telecom, address and organization is left out and flagged', () => {
		const { contacts, flags } = contactsOf({ 2: 'A' }, { 3: 'MTH^Mother^HL70063' }, { 2: 'C' });
		assert.deepEqual(
			contacts?.map(({ id }) => id),
			['NK1.1', 'NK1.2'],
		);
		assert.deepEqual(flags, ['segment-skipped: NK1[2] has neither name, telecom, address nor organization and was left out']);
	});
	test('that only delete leave none; that say nothing leave them as they are', () => {
		assert.equal(contactsOf({ 1: '1', 2: '""' }).contacts, null);
		assert.equal(contactsOf({ 1: '1', 3: 'MTH' }).contacts, undefined);
		assert.equal(contactsOf({ 1: '1', 2: '""' }, { 2: 'B' }).contacts?.length, 1);
	});
	test('no NK1: nothing is said', () => {
		assert.ok(!('contact' in (patients(read('ADT^A08', ['PID|1||100']))[0]?.patch.parts ?? {})));
	});
});
