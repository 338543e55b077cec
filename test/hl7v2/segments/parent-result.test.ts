import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldsOf, observations, read } from '../reading.ts';

const susceptibility = (parent: string, order = '', values: Record<number, string> = {}) => [
	fieldsOf('OBR', { 1: '1', 2: 'P1', 3: 'F1', 4: '50545-3^Susc^LN', 26: parent, 29: order, ...values }),
	'OBX|1|SN|18864-9^Ampicillin^LN||<=^2|ug/mL||S|||F',
];
const set = (...segments: string[]) => read('ORU^R01', ['PID|1||100', ...segments]);

/** The keys of the result and of the report of one OBR. */
function keysOf(parent: string, order = '', values: Record<number, string> = {}): (string | undefined)[] {
	const stated = set(...susceptibility(parent, order, values));
	const reports = stated.changes.filter((change) => change.kind === 'diagnostic-report');
	return [...observations(stated).map(({ item }) => item), ...reports.map(({ key }) => key?.item)];
}

function parentOf(parent: string, order = '', values: Record<number, string> = {}) {
	const [change] = observations(set(...susceptibility(parent, order, values)));
	assert.ok(change);
	return change.parent;
}

const isolate = '600-7&Bacteria&LN^1';

describe('the keys of results and reports', () => {
	test('are those of OBX-3, OBX-4 and OBR-4 alone where OBR-26 is empty, whatever OBR-29 says', () => {
		const plain = ['http://loinc.org|18864-9|', 'report http://loinc.org|50545-3'];
		for (const parent of ['', '""', '^', '& ^ ^ ']) {
			assert.deepEqual(keysOf(parent), plain, parent);
			assert.deepEqual(keysOf(parent, 'P9^F9'), plain, parent);
			assert.equal(parentOf(parent, 'P9^F9'), undefined);
		}
	});
	test('differ by the code and the sub-id of OBR-26', () => {
		const distinct = [isolate, '600-7&Bacteria&LN^2', '600-7&Bacteria&L^1', '634-6&Bacteria&LN^1', '^1', '600-7&Bacteria&LN'].map(
			(parent) => keysOf(parent),
		);
		for (const index of [0, 1]) assert.equal(new Set(distinct.map((keys) => keys[index])).size, distinct.length);
	});
	test('are the same whatever the names in OBR-26, which change until an organism is known for certain', () => {
		for (const parent of ['600-7&&LN^1', '600-7&Isolate&LN^1^Gram-negative rods', '600-7&Bacteria&LN&B&Bakterien&L^ 1 ^E. coli'])
			assert.deepEqual(keysOf(parent), keysOf(isolate), parent);
	});
	test('differ by the name in OBR-26 where it has no sub-id', () => {
		assert.notDeepEqual(keysOf('600-7&Bacteria&LN^^E. coli'), keysOf('600-7&Bacteria&LN^^S. aureus'));
		assert.notDeepEqual(keysOf('^^E. coli'), keysOf('^^S. aureus'));
	});
	test('differ by OBR-29 where that is another order', () => {
		assert.notDeepEqual(keysOf(isolate, 'P9^F9'), keysOf(isolate));
		assert.notDeepEqual(keysOf(isolate, 'P9^F9'), keysOf(isolate, 'P9^F8'));
		assert.notDeepEqual(keysOf(isolate, 'P9'), keysOf(isolate, '^P9'));
		assert.deepEqual(keysOf(isolate, 'P8^F9'), keysOf(isolate, 'P9^F9'));
	});
	test('are the same whether OBR-29 names the order of the OBR or nothing', () => {
		for (const order of ['P1^F1', '^F1', 'P1', 'P9^F1']) assert.deepEqual(keysOf(isolate, order), keysOf(isolate), order);
		const numbered = { 2: 'P1^HIS', 3: 'F1^LAB^1.2.3^ISO' };
		for (const order of ['P1^F1', 'P1&HIS^F1&LAB&1.2.3&ISO', 'P1&HIS'])
			assert.deepEqual(keysOf(isolate, order, numbered), keysOf(isolate, '', numbered), order);
		assert.notDeepEqual(keysOf(isolate, '^F1&OTHER', numbered), keysOf(isolate, '', numbered));
	});
	test('of any length are digests', () => {
		for (const key of keysOf(`${'x'.repeat(3000)}^1^${'y'.repeat(3000)}`, `${'p'.repeat(3000)}^${'f'.repeat(3000)}`))
			assert.match(key ?? '', /^[0-9a-f]{64}$/);
	});
	test('of images are that of the order', () => {
		assert.equal(keysOf(isolate, '', { 24: 'RAD' })[1], 'report');
	});
});

describe('results of one OBX-3', () => {
	test('are not repeated where their parents differ', () => {
		const { flags, changes } = set(...susceptibility(isolate), ...susceptibility('600-7&Bacteria&LN^2'));
		assert.deepEqual(flags, []);
		assert.ok(changes.every((change) => change.kind !== 'observation' || !change.item.includes('#')));
	});
	test('are repeated where they do not', () => {
		const { flags } = set(...susceptibility(isolate), ...susceptibility(isolate));
		assert.deepEqual(
			flags.map(({ code }) => code),
			['repeated-observation'],
		);
	});
	test('have a panel within their parent', () => {
		const lines = (subId: string) => ['OBX|1||MIC^MIC^L|1||||||||F', `OBX|2|NM|AMP^Amp^L|${subId}|2||||||F`];
		const [obr = ''] = susceptibility(isolate);
		const changes = observations(set(obr, ...lines('1.1')));
		assert.deepEqual(changes[0]?.members, [changes[1]?.item]);
	});
});

describe('the parent of a result', () => {
	test('is the result with the OBX-3 and OBX-4 of OBR-26, in the order of OBR-29, else in its own', () => {
		const organism = 'OBX|1|CE|600-7^Bacteria^LN|1|112283007^E. coli^SCT||||||F';
		const [own] = observations(set('OBR|1|P1|F1|600-7^Blood culture^LN', organism));
		const [other] = observations(set('OBR|1|P9|F9|600-7^Blood culture^LN', organism));
		const named = ({ order, item }: { order?: unknown; item?: string } = {}) => [order, item];
		assert.deepEqual(named(parentOf(isolate)), named(own));
		assert.deepEqual(named(parentOf(isolate, 'P1^F1')), named(own));
		assert.deepEqual(named(parentOf(isolate, 'P9^F9')), named(other));
		const [placed] = observations(set('OBR|1|P9||600-7^Blood culture^LN', organism));
		assert.deepEqual(named(parentOf(isolate, 'P9')), named(placed));
		const unnumbered = parentOf(isolate, '', { 2: '', 3: '' });
		assert.deepEqual(named(unnumbered), [undefined, own?.item]);
	});
	test('is displayed with all that OBR-26 says', () => {
		const displays = {
			[`${isolate}^E. coli`]: 'E. coli (600-7 Bacteria, 1)',
			[isolate]: '600-7 Bacteria, 1',
			'600-7^1': '600-7, 1',
			'&Bacteria': 'Bacteria',
			'&&&B&Bakterien&L^1': 'B Bakterien, 1',
			'^^E. coli': 'E. coli',
			'^2': '2',
		};
		for (const [parent, display] of Object.entries(displays)) assert.equal(parentOf(parent)?.display, display, parent);
	});
});
