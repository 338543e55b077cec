import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Cell } from '#storage/cell.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { Foresight } from '#storage/foresight.ts';
import { plainArray, type Statement, textArray } from '#storage/statement.ts';

const statement = (name: string): Statement => ({ name, text: name });
const [fresh, count, study, grow, begin] = ['fresh', 'count', 'study', 'grow', 'begin'].map(statement) as [Statement, ...Statement[]] &
	Record<1 | 2 | 3 | 4, Statement>;
const of = (key: string, ...more: number[]) => [plainArray(['site']), textArray([key]), ...more.map((value) => plainArray([value]))];

/** A database whose answers the test sets; `fails` makes a statement fail. */
class Rows implements StatementRunner {
	readonly found = new Map<string, Cell[][]>();
	fails: string | undefined;

	async run({ name }: Statement): Promise<Cell[][]> {
		if (this.fails === name) throw new Error(`${name} failed`);
		return this.found.get(name) ?? [];
	}
}

function rig() {
	const rows = new Rows();
	const foresight = new Foresight({
		empty: [fresh],
		counted: [{ read: count, column: 1 }],
		growing: [{ write: grow, value: 2, read: study, column: 2 }],
		changing: [{ write: begin, read: study }],
	});
	/** Reads of a transaction that is committed. */
	const committed = async (reads: readonly Statement[], write?: Statement, key = 'k') => {
		const transaction = foresight.begin(rows, true);
		const answers = await Promise.all(reads.map((read) => transaction.run(read, of(key))));
		if (write) await transaction.writing.run(write, of(key, 3));
		const { isForeseen } = transaction;
		const isTrue = await transaction.isTrue();
		if (isTrue) await transaction.learn();
		else assert.equal(await transaction.wasWrong(), true);
		return { answers, isForeseen, isTrue };
	};
	return { rows, foresight, committed };
}

describe('what the last reads found', () => {
	test('is expected of the next ones with the same parameters, as it was changed by what was written', async () => {
		const { rows, committed } = rig();
		rows.found.set('study', [['site', 'k', '1', 'a']]);
		assert.equal((await committed([study], grow)).isForeseen, false);
		rows.found.set('study', [['site', 'k', '4', 'a']]);
		assert.deepEqual(await committed([study, fresh], grow), { answers: [[['site', 'k', '4', 'a']], []], isForeseen: true, isTrue: true });
		assert.equal((await committed([study], undefined, 'other')).isForeseen, false);
	});

	test('is not expected after it was changed in a way that is not foreseen, nor where there was nothing', async () => {
		const { rows, committed } = rig();
		await committed([count]);
		assert.equal((await committed([count])).isForeseen, false);
		rows.found.set('study', [['site', 'k', '1', 'a']]);
		await committed([study], begin);
		assert.equal((await committed([study])).isForeseen, false);
	});

	test('is compared cell by cell, but for what is only counted', async () => {
		const { rows, committed } = rig();
		rows.found.set('count', [['site', '1', 'v']]);
		await committed([count]);
		rows.found.set('count', [['site', '7', 'v']]);
		assert.equal((await committed([count])).isTrue, true);
		rows.found.set('count', [['site', '8', 'w']]);
		assert.equal((await committed([count])).isTrue, false);
	});

	test('was wrong only when all reads were answered', async () => {
		const { rows, foresight, committed } = rig();
		rows.found.set('study', [['a']]);
		await committed([study]);
		rows.found.set('study', [['b']]);
		rows.fails = 'fresh';
		const transaction = foresight.begin(rows, true);
		for (const read of [study, fresh]) await transaction.run(read, of('k'));
		await assert.rejects(transaction.isTrue(), /fresh failed/);
		assert.equal(await transaction.wasWrong(), false);
	});

	test('is not gone on with for ever more transactions after surprises in a row', async () => {
		const { foresight, committed } = rig();
		const guesses = async (most: number) => {
			for (let waited = 0; waited <= most; waited++) if (foresight.begin(new Rows(), true).guesses) return waited;
			return most;
		};
		for (const waits of [2, 4, 8, 16, 32, 64, 128, 256, 256]) {
			foresight.surprised();
			assert.equal(await guesses(300), waits);
		}
		await committed([fresh]);
		foresight.surprised();
		assert.equal(await guesses(300), 2, 'one that came true ends the row');
	});

	test('is bounded: the last reads, and no long answers', async () => {
		const { rows, committed } = rig();
		rows.found.set('study', [['a']]);
		for (let key = 0; key <= 256; key++) await committed([study], undefined, `k${key}`);
		assert.equal((await committed([study], undefined, 'k256')).isForeseen, true);
		assert.equal((await committed([study], undefined, 'k0')).isForeseen, false);
		rows.found.set(
			'study',
			Array.from({ length: 65 }, () => ['a']),
		);
		await committed([study], undefined, 'long');
		assert.equal((await committed([study], undefined, 'long')).isForeseen, false);
	});
});
