import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withPatients } from '#bulk/import-run.ts';
import type { ReadLine } from '#bulk/line.ts';
import { survivorsOf } from '#bulk/waiting.ts';

const patient = (rowId: string, ...others: string[]) =>
	({
		rowId,
		change: { resourceType: 'Patient' },
		patients: others.map((other) => ({ rowId: other, text: '', expression: '' })),
		checkReferences: true,
	}) as unknown as ReadLine;

const ids = (lines: readonly Pick<ReadLine, 'rowId'>[]) => lines.map(({ rowId }) => rowId);

describe('lines that refer to patients', () => {
	test('are present with those of the record, of the same chunk, and expected ones', () => {
		const lines = [patient('a', 'b'), patient('b', 'a', 'held'), patient('c', 'later'), patient('d', 'none'), patient('e', 'd')];
		const missing = new Set(['a', 'b', 'c', 'd', 'later', 'none']);
		const [present, blocked] = withPatients(lines, missing, new Set(['later']));
		assert.deepEqual(ids(present), ['a', 'b', 'c']);
		assert.deepEqual(ids(blocked).sort(), ['d', 'e']);
	});
});

describe('patients that wait for one another', () => {
	const waiting = (rowId: string, ...missing: string[]) => ({ rowId, missing });

	test('are taken when all of a ring are there', () => {
		assert.deepEqual(
			[...survivorsOf([waiting('a', 'b'), waiting('b', 'c'), waiting('c', 'a')], new Set(['a', 'b', 'c']))],
			['a', 'b', 'c'],
		);
	});

	test('are taken when what they waited for came meanwhile', () => {
		assert.deepEqual([...survivorsOf([waiting('a', 'b')], new Set(['a']))], ['a']);
	});

	test('are not taken when one of them waits in vain, nor are those that wait for it', () => {
		const lines = [waiting('a', 'b'), waiting('b', 'none'), waiting('c', 'd'), waiting('d', 'c')];
		assert.deepEqual([...survivorsOf(lines, new Set(['a', 'b', 'c', 'd', 'none']))], ['c', 'd']);
	});
});
