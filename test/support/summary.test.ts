import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { needs } from './needs.ts';
import type { Outcome } from './outcomes.ts';
import { expectedOf, slowestOf, summaryOf } from './summary.ts';

const skipped = (name: string, reason: string): Outcome => ({ kind: 'skipped', file: 'test/a.test.ts', test: name, reason });
const outcomes = [
	skipped('one', needs.corpus.reason),
	skipped('two', needs.corpus.reason),
	skipped('three', 'needs root'),
	{ kind: 'file', file: 'test/a.test.ts', seconds: 1.24 },
	{ kind: 'file', file: 'test/b.test.ts', seconds: 12 },
] satisfies Outcome[];

describe('the end of a run', () => {
	test('counts what was skipped, by reason', () => {
		assert.deepEqual(summaryOf(outcomes, []), {
			lines: ['skipped: 1 × needs root', `skipped: 2 × ${needs.corpus.reason}`],
			ok: true,
		});
		assert.deepEqual(summaryOf([], ['corpus', 'dcmtk', 'chromium']), { lines: [], ok: true });
	});

	test('fails when something was skipped for want of what is said to be there, and names it', () => {
		assert.equal(summaryOf(outcomes, ['dcmtk']).ok, true);
		const { lines, ok } = summaryOf(outcomes, ['dcmtk', 'corpus']);
		assert.equal(ok, false);
		assert.deepEqual(lines.slice(1), [
			`FAILED, expected here but skipped: 2 × ${needs.corpus.reason}`,
			'    test/a.test.ts: one',
			'    test/a.test.ts: two',
		]);
	});

	test('names what fails a process beside its tests: late errors, how it ended, and the files that it cut off', () => {
		const late = 'Error: Test "x" generated asynchronous activity after the test ended.';
		const broken = [
			...outcomes,
			{ kind: 'late', message: late },
			{ kind: 'process', lot: 'lot-003.mjs', reason: 'SIGSEGV' },
		] satisfies Outcome[];
		const { lines, ok } = summaryOf(broken, [], ['test/a.test.ts', 'test/b.test.ts', 'test/c.test.ts']);
		assert.equal(ok, false);
		assert.deepEqual(lines.slice(2), [
			`FAILED after its test: ${late}`,
			'FAILED as a process: lot-003.mjs, by SIGSEGV',
			'FAILED without an end: test/c.test.ts',
		]);
	});

	test('names the slowest files first', () => {
		assert.deepEqual(slowestOf(outcomes, 2), ['  12.0 s  test/b.test.ts', '   1.2 s  test/a.test.ts']);
		assert.equal(slowestOf(outcomes, 1).length, 1);
	});
});

test('TRIBUTARY_EXPECT lists what there is, and refuses what it does not know', () => {
	assert.deepEqual(expectedOf(undefined), []);
	assert.deepEqual(expectedOf(''), []);
	assert.deepEqual(expectedOf('corpus,chromium'), ['corpus', 'chromium']);
	assert.throws(() => expectedOf('corpus,dcmkt'), /TRIBUTARY_EXPECT: dcmkt: choose from corpus, dcmtk, pynetdicom, orthanc, chromium/);
});
