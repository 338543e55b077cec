import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { needs, needsMet, without } from './needs.ts';
import type { Outcome } from './outcomes.ts';
import { againOf, expectedOf, slowestOf, summaryOf } from './summary.ts';

const skipped = (name: string, reason: string): Outcome => ({ kind: 'skipped', file: 'test/a.test.ts', test: name, reason });
const outcomes = [
	skipped('one', needs.corpus.reason),
	skipped('two', needs.corpus.reason),
	skipped('three', 'needs root'),
	{ kind: 'file', file: 'test/a.test.ts', seconds: 1.24, passed: true },
	{ kind: 'file', file: 'test/b.test.ts', seconds: 12, passed: true },
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
			{ kind: 'late', lot: 'lot-001.mjs', message: late },
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

	describe('what is run once more', () => {
		const lots = new Map([
			['lot-000.mjs', ['test/a.test.ts', 'test/b.test.ts', 'test/c.test.ts']],
			['lot-001.mjs', ['test/d.test.ts', 'test/e.test.ts']],
		]);
		const ended = (file: string, passed: boolean): Outcome => ({ kind: 'file', file, seconds: 1, passed });

		test('is what failed, and nothing where all passed', () => {
			assert.deepEqual(againOf(outcomes, lots), []);
			assert.deepEqual(againOf([...outcomes, ended('test/e.test.ts', false)], lots), ['test/e.test.ts']);
		});

		test('is what a process that was killed did not end', () => {
			const killed = [ended('test/a.test.ts', true), { kind: 'process', lot: 'lot-000.mjs', reason: 'SIGKILL' }] satisfies Outcome[];
			assert.deepEqual(againOf(killed, lots), ['test/b.test.ts', 'test/c.test.ts']);
		});

		test('is all of a process with an error that no test waited for', () => {
			const late = [
				ended('test/d.test.ts', true),
				ended('test/e.test.ts', true),
				{ kind: 'late', lot: 'lot-001.mjs', message: '' },
			] satisfies Outcome[];
			assert.deepEqual(againOf(late, lots), ['test/d.test.ts', 'test/e.test.ts']);
		});

		test('is nothing where much failed', () => {
			const failed = (count: number) => Array.from({ length: count }, (_, index) => ended(`test/${index}.test.ts`, false));
			assert.equal(againOf(failed(5), lots).length, 5);
			assert.deepEqual(againOf(failed(6), lots), []);
		});
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

test('what this machine has is found by the rules of the tests, and .ci/run expects it', () => {
	assert.deepEqual(expectedOf(needsMet().join()), needsMet());
	for (const name of needsMet()) assert.equal(without(name), false);
	const program = /\$\(node -e '([^']+)'\)/.exec(readFileSync(join(import.meta.dirname, '../../.ci/run'), 'utf8'))?.[1] ?? '';
	const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', program], {
		cwd: join(import.meta.dirname, '../..'),
		encoding: 'utf8',
	});
	assert.equal(status, 0, stderr);
	assert.deepEqual(expectedOf(stdout.trim()), needsMet());
});
