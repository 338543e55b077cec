import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Laboratory } from '#test/support/laboratory.ts';
import type { FhirBody } from '#test/support/service.ts';

let laboratory: Laboratory;

before(async () => {
	laboratory = await Laboratory.open();
});

after(() => laboratory[Symbol.asyncDispose]());

/** Sends a message about a patient; returns its flags. */
const send = (patient: string, ...segments: string[]) => laboratory.send(`PID|1||${patient}^^^H^MR||A^B||19800101|F`, ...segments);
const all = (type: string, patient: string) => laboratory.all(type, patient);

/** An OBR of the patient's order, with OBR-26 and OBR-29. */
function obr(patient: string, code: string, parent = '', { status = 'F', day = 1, order = `P${patient}^F${patient}` } = {}): string {
	const times = `202601050800${'|'.repeat(15)}20260${day}051000`;
	return `OBR|1|P${patient}|F${patient}|${code}|||${times}||MB|${status}|${parent}|||${parent === '' ? '' : order}`;
}

const culture = '600-7^Blood culture^LN';
const susceptibility = '50545-3^Susc^LN';
const organism = (subId: string, value: string) => `OBX|1|CE|600-7^Bacteria^LN|${subId}|${value}||||||F`;
const ampicillin = (value: string, interpretation: string, status = 'F') =>
	`OBX|1|SN|18864-9^Ampicillin^LN||${value}|ug/mL||${interpretation}|||${status}`;
const isolate = (subId: string) => `600-7&Bacteria&LN^${subId}`;

/** A culture with two isolates, and the susceptibility of each. */
const twoIsolates = (patient: string) => [
	obr(patient, culture),
	organism('1', '112283007^E. coli^SCT'),
	organism('2', '3092008^S. aureus^SCT'),
	obr(patient, susceptibility, isolate('1')),
	ampicillin('<=^2', 'S'),
	obr(patient, susceptibility, isolate('2')),
	ampicillin('>^32', 'R'),
];

/** Returns what is known of a patient's isolates, by the name of the organism from which the result derives. */
async function byOrganism(patient: string): Promise<Record<string, string>> {
	const found = await all('Observation', patient);
	const named = new Map(found.map((one) => [`Observation/${one.id}`, one.valueCodeableConcept?.text]));
	const known = found
		.filter(({ derivedFrom }) => derivedFrom !== undefined)
		.map(({ derivedFrom: [parent], valueQuantity, interpretation, status, meta }) => [
			named.get(parent.reference) ?? parent.display,
			`${valueQuantity.comparator} ${valueQuantity.value} ${interpretation[0].coding[0].code} ${status} ${meta.versionId}`,
		]);
	assert.equal(new Set(known.map(([name]) => name)).size, known.length);
	return Object.fromEntries(known);
}

/** The statuses of a patient's susceptibility reports, by the organism of their results. */
async function reports(patient: string): Promise<Record<string, string>> {
	const observations = new Map((await all('Observation', patient)).map((one) => [`Observation/${one.id}`, one]));
	const found = (await all('DiagnosticReport', patient)).filter(({ code }) => code.text === 'Susc');
	return Object.fromEntries(
		found.map(({ result, status }) => {
			const parents = result.map(({ reference }: FhirBody) => observations.get(reference)?.derivedFrom[0].display);
			return [parents.join(), status];
		}),
	);
}

describe('the susceptibilities of two isolates of one order', () => {
	test('stay apart, and each derives from its organism', async () => {
		assert.deepEqual(await send('A', ...twoIsolates('A')), []);
		assert.deepEqual(await byOrganism('A'), { 'E. coli': '<= 2 S final 1', 'S. aureus': '> 32 R final 1' });
		assert.deepEqual(await reports('A'), { '600-7 Bacteria, 1': 'final', '600-7 Bacteria, 2': 'final' });
	});

	test('are corrected by the parent that OBR-26 names', async () => {
		await send('B', ...twoIsolates('B'));
		const correction = obr('B', susceptibility, isolate('2'), { status: 'C', day: 2 });
		assert.deepEqual(await send('B', correction, ampicillin('>^64', 'R', 'C')), []);
		assert.deepEqual(await byOrganism('B'), { 'E. coli': '<= 2 S final 1', 'S. aureus': '> 64 R corrected 2' });
		assert.deepEqual(await reports('B'), { '600-7 Bacteria, 1': 'final', '600-7 Bacteria, 2': 'corrected' });
	});

	test('are no new versions when the message comes again, in the other order, too', async () => {
		await send('C', ...twoIsolates('C'));
		const before = [await all('Observation', 'C'), await all('DiagnosticReport', 'C')];
		const segments = twoIsolates('C');
		await send('C', ...segments);
		await send('C', ...segments.slice(5), ...segments.slice(3, 5), ...segments.slice(0, 3));
		assert.deepEqual([await all('Observation', 'C'), await all('DiagnosticReport', 'C')], before);
	});

	test('are withdrawn one at a time when OBR-25 is X', async () => {
		await send('D', ...twoIsolates('D'));
		await send('D', obr('D', susceptibility, isolate('1'), { status: 'X', day: 2 }));
		assert.deepEqual(await byOrganism('D'), { 'E. coli': '<= 2 S entered-in-error 2', 'S. aureus': '> 32 R final 1' });
		assert.deepEqual(await reports('D'), { '600-7 Bacteria, 1': 'entered-in-error', '600-7 Bacteria, 2': 'final' });
	});

	test('derive from a name alone where two organisms are named alike', async () => {
		const [first = '', , ...further] = twoIsolates('E').map((segment) => segment.replace('|2|3092008', '|1|3092008'));
		assert.deepEqual(await send('E', first, organism('1', '112283007^E. coli^SCT'), ...further), ['repeated-observation']);
		const parents = (await all('Observation', 'E')).flatMap(({ derivedFrom }) => derivedFrom ?? []);
		assert.deepEqual(parents.map(({ reference, display }) => [reference, display]).sort(), [
			[undefined, '600-7 Bacteria, 1'],
			[undefined, '600-7 Bacteria, 2'],
		]);
	});
});

describe('a parent in another order', () => {
	const ofCulture = (number: string) => obr('G', susceptibility, `${isolate('1')}^E. coli`, { order: `P${number}^F${number}` });

	test('is found by OBR-29, and a parent of the same name in a third order is another', async () => {
		for (const number of ['G1', 'G2']) await send('G', obr('G', culture).replaceAll('FG|', `F${number}|`), organism('1', `X^${number}^L`));
		await send('G', ofCulture('G1'), ampicillin('<=^2', 'S'), ofCulture('G2'), ampicillin('>^32', 'R'));
		await send('G', ofCulture('G2'), ampicillin('>^64', 'R', 'C'));
		assert.deepEqual(await byOrganism('G'), { G1: '<= 2 S final 1', G2: '> 64 R corrected 2' });
	});

	test('is never that of another patient, nor one that is unknown', async () => {
		await send('H', obr('H', culture), organism('1', 'X^X^L'));
		const parent = `${isolate('1')}^E. coli`;
		await send('I', obr('I', susceptibility, parent, { order: 'PH^FH' }), ampicillin('<=^2', 'S'));
		await send('J', obr('J', susceptibility, parent, { order: 'PQ^FQ' }), ampicillin('<=^2', 'S'));
		for (const patient of ['I', 'J']) {
			const [result] = await all('Observation', patient);
			assert.deepEqual(result?.derivedFrom, [{ type: 'Observation', display: 'E. coli (600-7 Bacteria, 1)' }]);
		}
	});

	test('is found once it has come', async () => {
		const result = [obr('K', susceptibility, isolate('1')), ampicillin('<=^2', 'S')];
		await send('K', ...result);
		await send('K', obr('K', culture), organism('1', 'X^E. coli^L'));
		assert.deepEqual(await byOrganism('K'), { '600-7 Bacteria, 1': '<= 2 S final 1' });
		await send('K', ...result);
		assert.deepEqual(await byOrganism('K'), { 'E. coli': '<= 2 S final 2' });
	});

	test('is found wherever it stands in the message', async () => {
		await send('N', ...twoIsolates('N').slice(3), ...twoIsolates('N').slice(0, 3));
		assert.deepEqual(await byOrganism('N'), { 'E. coli': '<= 2 S final 1', 'S. aureus': '> 32 R final 1' });
	});
});

describe('results without OBR-26', () => {
	test('are told apart by their order alone, and a correction with OBR-26 is another result', async () => {
		const plain = (status = 'F') => [obr('L', susceptibility, '', { status, day: 1 }), ampicillin('<=^2', 'S', status)];
		assert.deepEqual(await send('L', ...plain(), ...plain()), ['repeated-observation']);
		await send('L', ...plain('C'));
		await send('L', obr('L', susceptibility, isolate('1')), ampicillin('>^64', 'R'));
		const found = (await all('Observation', 'L')).map(({ status, meta, derivedFrom }) => [
			status,
			meta.versionId,
			derivedFrom !== undefined,
		]);
		assert.deepEqual(found.sort(), [
			['corrected', '2', false],
			['final', '1', false],
			['final', '1', true],
		]);
	});
});
