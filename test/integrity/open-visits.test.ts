import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AdtSender } from '#test/support/adt-sender.ts';
import type { FhirBody } from '#test/support/service.ts';

let adt: AdtSender;

before(async () => {
	adt = await AdtSender.open();
});

after(() => adt[Symbol.asyncDispose]());

const pid = (value: string) => `PID|1||${value}^^^H^MR||A^B||19800101|F`;
const pv1 = (className: string, number = '') => `PV1|1|${className}|WARD||||||||||||||||${number}`;

/** Class and status of each visit of a patient, and its number. */
async function visits(patient: string): Promise<string[]> {
	const found = await adt.all('Encounter', patient);
	return found.map(({ class: { code }, status, identifier }: FhirBody) => `${code} ${status} ${identifier?.[0].value ?? '-'}`).sort();
}

test('an event without a visit number is about the open visit of its class', async () => {
	await adt.send('A04', pid('1'), pv1('E'));
	await adt.send('A01', pid('1'), pv1('I', 'V1'));
	assert.deepEqual(await adt.send('A03', pid('1'), pv1('E')), []);
	assert.deepEqual(await visits('1'), ['EMER finished -', 'IMP in-progress V1']);
});

test('an admission of another class begins a visit beside one that has a number', async () => {
	await adt.send('A01', pid('2'), pv1('I', 'V2'));
	assert.deepEqual(await adt.send('A04', pid('2'), pv1('O')), []);
	assert.deepEqual(await adt.send('A03', pid('2'), pv1('O')), []);
	assert.deepEqual(await visits('2'), ['AMB finished -', 'IMP in-progress V2']);
});

test('the emergency visit that becomes an inpatient one stays one visit', async () => {
	await adt.send('A04', pid('3'), pv1('E'));
	assert.deepEqual(await adt.send('A01', pid('3'), pv1('I')), []);
	assert.deepEqual(await visits('3'), ['IMP in-progress -']);
});

test('an event about one of several visits of a class is flagged', async () => {
	for (const number of ['V4', 'V5']) await adt.send('A01', pid('4'), pv1('I', number));
	assert.deepEqual(await adt.send('A03', pid('4'), pv1('I')), ['uncertain-visit']);
	assert.deepEqual(await visits('4'), ['IMP finished V5', 'IMP in-progress V4']);
});
