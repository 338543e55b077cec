import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldsOf, observations, observe, read, stored } from '../reading.ts';

const orderOf = (...segments: string[]) => read('ORU^R01', ['PID|1||100', 'OBR|1|P1|F1|PANEL^Panel^L', ...segments]);
const resources = (...segments: string[]) => observations(orderOf(...segments)).map(({ resource }) => stored(resource));

describe('OBR context', () => {
	const obr = (values: Record<number, string>) =>
		observe({ 2: 'NM', 5: '1' }, fieldsOf('OBR', { 1: '1', 3: 'F1^LIS', 4: 'P^Panel^L', ...values }));
	test('OBR-7 is the time of an observation without OBX-14, with OBR-8 a period, else OBR-22', () => {
		assert.equal(obr({ 7: '20240101' })['effectiveDateTime'], '2024-01-01');
		assert.deepEqual(obr({ 7: '20240101', 8: '20240102' })['effectivePeriod'], { start: '2024-01-01', end: '2024-01-02' });
		assert.equal(obr({ 22: '202401030405' })['effectiveDateTime'], '2024-01-03T04:05:00+01:00');
		assert.equal(obr({ 22: '202401030405' })['issued'], '2024-01-03T04:05:00+01:00');
	});
	test('OBR-24 is the category, imaging or laboratory where the section is one of them', () => {
		const codes = (section: string) =>
			(obr({ 24: section })['category'] as { coding: { code: string }[] }[])[0]?.coding.map(({ code }) => code);
		assert.deepEqual(codes('RAD'), ['imaging', 'RAD']);
		assert.deepEqual(codes('CH'), ['laboratory', 'CH']);
		assert.deepEqual(codes('PHY'), ['PHY']);
		assert.deepEqual(codes('constructor'), ['constructor']);
	});
	test('OBR-15, or SPM behind it, is the specimen', () => {
		assert.deepEqual(obr({ 15: 'BLD&Blood' })['specimen'], { type: 'Specimen', display: 'Blood' });
		const set = orderOf('SPM|1|^S1&LIS|BLD', 'OBX|1|NM|K^K^L||1||||||F');
		assert.deepEqual(observations(set)[0]?.resource['specimen'], { type: 'Specimen', identifier: { system: 'urn:id:LIS', value: 'S1' } });
	});
	test('SPM behind the observations of its order is their specimen too, and not that of the next order', () => {
		const list = resources(
			'OBX|1|NM|K^K^L||1||||||F',
			'OBX|2|NM|N^N^L||1||||||F',
			'SPM|1|^S1|BLD',
			'OBR|2||F2',
			'OBX|1|NM|K^K^L||1||||||F',
		);
		const specimen = { type: 'Specimen', identifier: { value: 'S1' } };
		assert.deepEqual(
			list.map((resource) => resource['specimen']),
			[specimen, specimen, undefined],
		);
	});
	test('of several SPM the first speaks for what stood before it, each for what follows', () => {
		const list = resources('OBX|1|NM|K^K^L||1||||||F', 'SPM|1|^S1', 'OBX|2|NM|N^N^L||1||||||F', 'SPM|2|^S2', 'OBX|3|NM|L^L^L||1||||||F');
		assert.deepEqual(
			list.map((resource) => (resource['specimen'] as { identifier: { value: string } }).identifier.value),
			['S1', 'S1', 'S2'],
		);
	});
	test('SPM says more than OBR-15, wherever it stands', () => {
		const set = read('ORU^R01', ['PID|1||100', fieldsOf('OBR', { 3: 'F1', 15: 'BLD&Blood' }), 'OBX|1|NM|K^K^L||1||||||F', 'SPM|1|^S1']);
		assert.deepEqual(observations(set)[0]?.resource['specimen'], { type: 'Specimen', identifier: { value: 'S1' } });
	});
	test('OBR-32 stands for the result when OBX names nobody', () => {
		assert.deepEqual(obr({ 32: '9&Read&Rita' })['performer'], [{ type: 'Practitioner', identifier: { value: '9' }, display: 'Rita Read' }]);
	});
	test('OBR-2 and OBR-3 are what it is based on, by identifier', () => {
		const based = obr({ 2: 'P1' })['basedOn'] as { identifier: { value: string; type: { coding: { code: string }[] } }; display: string }[];
		assert.deepEqual(
			based.map(({ identifier, display }) => [identifier.type.coding[0]?.code, identifier.value, display]),
			[
				['PLAC', 'P1', 'Panel'],
				['FILL', 'F1', 'Panel'],
			],
		);
	});
	test('OBR-4 is the code of an OBX without OBX-3', () => {
		assert.deepEqual(observe({ 2: 'TX', 3: '', 5: 'text' })['code'], { coding: [{ code: 'PANEL', display: 'Panel' }], text: 'Panel' });
	});
});

describe('lines, notes and panels', () => {
	test('TX lines of one OBX-3 and OBX-4 are one text', () => {
		const list = resources(
			'OBX|1|TX|R^Report^L||one||||||F',
			'OBX|2|TX|R^Report^L||two||||||F',
			'OBX|3|TX|||three||||||F',
			'OBX|4|TX|S^Other^L||four||||||F',
			'OBX|5|ST|S^Other^L||five||||||F',
		);
		assert.deepEqual(
			list.map((resource) => resource['valueString']),
			['one\ntwo\nthree', 'four', 'five'],
		);
	});
	test('lines of another sub-id or status are another text', () => {
		const list = resources('OBX|1|FT|R^R^L|1|one||||||F', 'OBX|2|FT|R^R^L|2|two||||||F', 'OBX|3|FT|R^R^L|2|three||||||C');
		assert.equal(list.length, 3);
	});
	test('an empty line in a text is kept', () => {
		const list = resources('OBX|1|TX|R^R^L||one||||||F', 'OBX|2|TX|R^R^L||||||||F', 'OBX|3|TX|R^R^L||two||||||F');
		assert.equal(list[0]?.['valueString'], 'one\n\ntwo');
	});
	test('NTE behind OBX is a note of it, behind OBR of the first observation', () => {
		const list = resources(
			'NTE|1||of the order',
			'OBX|1|NM|K^K^L||1||||||F',
			'NTE|1||first~line',
			'NTE|2||',
			'NTE|3||second||7^Who^Doc|202401020304',
			'OBX|2|NM|N^N^L||1||||||F',
		);
		assert.deepEqual(list[0]?.['note'], [
			{ text: 'of the order' },
			{ text: 'first\nline' },
			{ text: 'second', authorString: 'Doc Who', time: '2024-01-02T03:04:00+01:00' },
		]);
		assert.equal(list[1]?.['note'], undefined);
	});
	test('a note of an order without observations is flagged', () => {
		assert.deepEqual(
			orderOf('NTE|1||lost').flags.map(({ code }) => code),
			['segment-skipped'],
		);
	});
	test('a note behind PID is flagged as such', () => {
		const { flags } = read('ORU^R01', ['PID|1||100', 'NTE|1||lost', 'OBR|1||F1|A^A^L', 'OBX|1|ST|A^A^L||a||||||F']);
		assert.deepEqual(flags, [{ code: 'segment-skipped', text: 'NTE stands behind PID, is about no result and was left out' }]);
	});
	test('OBX-3 twice in an order without OBX-4 is flagged; with it, and in lines of one text, it is not', () => {
		const flags = (...segments: string[]) => orderOf(...segments).flags.map(({ code, text }) => `${code} ${text.slice(0, 6)}`);
		assert.deepEqual(flags('OBX|1|NM|A^A^L||1||||||F', 'OBX|2|NM|B^B^L||1||||||F', 'OBX|3|NM|A^A^L||2||||||F'), [
			'repeated-observation OBX[3]',
		]);
		assert.deepEqual(flags('OBX|1|NM|A^A^L|1|1||||||F', 'OBX|2|NM|A^A^L|2|2||||||F'), []);
		assert.deepEqual(flags('OBX|1|TX|A^A^L||one||||||F', 'OBX|2|TX|A^A^L||two||||||F'), []);
	});
	test('dotted sub-ids form a panel: a head lists its nearest members', () => {
		const set = orderOf(
			'OBX|1||BP^BP^MDC|1||||||||X',
			'OBX|2||NIBP^NIBP^MDC|1.0.1||||||||X',
			'OBX|3|NM|SYS^Sys^MDC|1.0.1.1|120||||||F',
			'OBX|4|NM|DIA^Dia^MDC|1.0.1.2|80||||||F',
			'OBX|5|NM|T^Time^MDC|0.0.0.1|1||||||F',
		);
		const changes = observations(set);
		const mdc = 'urn:iso:std:iso:11073:10101';
		assert.deepEqual(
			changes.map(({ members }) => members),
			[[`${mdc}|NIBP|1.0.1`], [`${mdc}|SYS|1.0.1.1`, `${mdc}|DIA|1.0.1.2`], undefined, undefined, undefined],
		);
		for (const { members } of changes) for (const member of members ?? []) assert.ok(changes.some(({ item }) => item === member));
	});
	test('sub-ids padded with zeros as IHE PCD pads them name the same tree', () => {
		const set = orderOf('OBX|1||MDS^M^MDC|1.0.0.0||||||||X', 'OBX|2||VMD^V^MDC|1.1.0.0||||||||X', 'OBX|3|NM|A^A^MDC|1.1.0.2|1||||||F');
		assert.deepEqual(
			observations(set).map(({ members }) => members?.length),
			[1, 1, undefined],
		);
	});
	test('plain sub-ids form no panel', () => {
		const set = orderOf('OBX|1|NM|A^A^L|1|1||||||F', 'OBX|2|NM|B^B^L|1|1||||||F', 'OBX|3|NM|C^C^L|2|1||||||F');
		assert.ok(observations(set).every(({ members }) => members === undefined));
	});
});
