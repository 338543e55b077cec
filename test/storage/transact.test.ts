import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { RolledBack, type Trouble } from '#storage/sqlstate.ts';
import { Again, transact, WasCommitted } from '#storage/transact.ts';

type Fault = 'before-commit' | 'commit-lost' | 'commit-carried-out' | string;

/** A database in memory: what is committed, and the faults that it has on the way. */
class FakeDatabase {
	readonly committed: number[][] = [];
	readonly concluded: number[] = [];
	readonly refused: [item: number, trouble: string][] = [];
	readonly recovered: Trouble[] = [];
	readonly held = new Set<number>();
	attempts = 0;
	repeats = 0;
	halves = 0;
	readonly #faults: Fault[];
	readonly #poison: ReadonlyMap<number, string>;
	/** Items that have another form in which the database takes them. */
	readonly #mended: Set<number>;
	/** Items that stand in one order: with one of them the later ones are held. */
	readonly #sites: ReadonlyMap<number, number>;
	readonly #repeatsMax: number;

	constructor({
		faults = [],
		poison = {},
		mended = [],
		sites = {},
		repeatsMax = 8,
	}: { faults?: Fault[]; poison?: Record<number, string>; mended?: number[]; sites?: Record<number, number>; repeatsMax?: number } = {}) {
		this.#faults = [...faults];
		this.#poison = new Map(Object.entries(poison).map(([item, state]) => [Number(item), state]));
		this.#mended = new Set(mended);
		this.#sites = new Map(Object.entries(sites).map(([item, site]) => [Number(item), site]));
		this.#repeatsMax = repeatsMax;
	}

	run(items: readonly number[]): Promise<void> {
		return transact<number, number[]>(items, {
			attempt: (range, unsure, committing) => this.#attempt(range, unsure, committing),
			recover: async (trouble) => {
				this.recovered.push(trouble);
			},
			conclude: (range, outcome) => {
				assert.deepEqual(outcome, range);
				this.concluded.push(...range);
			},
			refuse: (item, trouble) => {
				this.refused.push([item, trouble]);
				if (this.#mended.delete(item)) return 'again';
				if (trouble === 'unknown') this.held.add(this.#sites.get(item) ?? item);
				return 'done';
			},
			isHeld: (item) => this.held.has(this.#sites.get(item) ?? item),
			pauseMs: (trouble, repeats) =>
				trouble === 'connection' ? (repeats === 0 ? 0 : undefined) : repeats < this.#repeatsMax ? 0 : undefined,
			repeated: () => {
				this.repeats++;
			},
			halved: () => {
				this.halves++;
			},
		});
	}

	async #attempt(range: readonly number[], unsure: number[] | undefined, committing: (outcome: number[]) => void): Promise<number[]> {
		this.attempts++;
		const fault = this.#faults.shift();
		if (fault === 'before-commit') throw new Error('Connection terminated unexpectedly');
		if (unsure && this.committed.some((items) => items === unsure)) throw new WasCommitted();
		if (fault === 'again') throw new Again('something was learnt');
		if (fault === 'ROLLBACK') throw new RolledBack('the transaction ended with ROLLBACK');
		if (fault === 'time-out') throw new Error('Query read timeout');
		if (fault === 'bug') throw new TypeError('undefined is not a function');
		const isCommit = fault === 'commit-lost' || fault === 'commit-carried-out';
		if (fault !== undefined && fault !== 'ok' && !isCommit) throw Object.assign(new Error('fault'), { code: fault });
		for (const item of range) {
			const state = this.#poison.get(item);
			if (state === 'bug') throw new TypeError('undefined is not a function');
			if (state !== undefined && !(this.refused.some(([refused]) => refused === item) && !this.#mended.has(item))) {
				throw Object.assign(new Error('poison'), { code: state });
			}
		}
		const outcome = [...range];
		committing(outcome);
		if (fault !== 'commit-lost') this.committed.push(outcome);
		if (isCommit) throw new Error('Connection terminated unexpectedly');
		return outcome;
	}
}

const eight = [1, 2, 3, 4, 5, 6, 7, 8];
const unavailable = (error: unknown) => error instanceof Failure && error.code === 'unavailable';

describe('a transaction over items', () => {
	test('is one transaction where nothing fails, and so it is with no item', async () => {
		const database = new FakeDatabase();
		await database.run(eight);
		assert.deepEqual(database.committed, [eight]);
		await database.run([]);
		assert.equal(database.attempts, 2);
	});

	for (const state of ['22021', '23514', '54000']) {
		for (const bad of eight) {
			test(`refuses item ${bad} that the database does not take (${state}), in order and without touching its neighbours`, async () => {
				const database = new FakeDatabase({ poison: { [bad]: state } });
				await database.run(eight);
				assert.deepEqual(database.refused, [[bad, 'row']]);
				assert.deepEqual(
					database.committed.flat(),
					eight.filter((item) => item !== bad),
				);
				assert.equal(database.halves, 3);
			});
		}
	}

	test('refuses every one that is not taken', async () => {
		const database = new FakeDatabase({ poison: Object.fromEntries(eight.map((item) => [item, '23514'])) });
		await database.run(eight);
		assert.deepEqual(
			database.refused.map(([item]) => item),
			eight,
		);
		assert.deepEqual(database.committed, []);
	});

	test('tries a refused item again in the other form that it has then, at its place in the order', async () => {
		const database = new FakeDatabase({ poison: { 3: '54000' }, mended: [3] });
		await database.run(eight);
		assert.deepEqual(database.concluded, eight);
		assert.deepEqual(database.refused, [[3, 'row']]);
	});

	for (const times of [1, 5, 8]) {
		test(`is repeated as a whole after ${times} serialization failures`, async () => {
			const database = new FakeDatabase({ faults: Array.from({ length: times }, () => '40001') });
			await database.run(eight);
			assert.deepEqual(database.committed, [eight]);
			assert.equal(database.repeats, times);
			assert.equal(database.halves, 0);
		});
	}

	test('is unavailable when it has been repeated as often as may be, and nothing is stored or refused', async () => {
		const database = new FakeDatabase({ faults: Array.from({ length: 9 }, () => '40001') });
		await assert.rejects(database.run(eight), unavailable);
		assert.deepEqual([database.committed, database.refused], [[], []]);
	});

	for (const fault of ['before-commit', 'time-out', 'commit-lost', 'ROLLBACK', '57014', '57P01']) {
		test(`is carried out once after ${fault}`, async () => {
			const database = new FakeDatabase({ faults: [fault] });
			await database.run(eight);
			assert.deepEqual(database.committed, [eight]);
			assert.deepEqual(database.concluded, eight);
			assert.equal(database.attempts, 2);
		});
	}

	test('is not carried out again when its COMMIT had happened', async () => {
		const database = new FakeDatabase({ faults: ['commit-carried-out'] });
		await database.run(eight);
		assert.deepEqual(database.committed, [eight]);
		assert.deepEqual(database.concluded, eight);
		assert.deepEqual(database.recovered, ['connection', 'unknown']);
	});

	for (const fault of ['40001', 'again', '53300']) {
		test(`still finds out about its lost COMMIT when ${fault} comes between`, async () => {
			const database = new FakeDatabase({ faults: ['commit-lost', fault] });
			await database.run(eight);
			assert.deepEqual(database.committed, [eight]);
			const carriedOut = new FakeDatabase({ faults: ['commit-carried-out', fault] });
			await carriedOut.run(eight);
			assert.deepEqual([carriedOut.committed, carriedOut.concluded], [[eight], eight]);
		});
	}

	test('is unavailable when the connection breaks twice; a time-out never refuses anybody', async () => {
		for (const faults of [
			['before-commit', 'before-commit'],
			['time-out', 'time-out'],
			['commit-lost', 'time-out'],
		]) {
			const database = new FakeDatabase({ faults });
			await assert.rejects(database.run(eight), unavailable);
			assert.deepEqual([database.committed, database.refused], [[], []]);
		}
	});

	test('concludes what was committed before the database went away', async () => {
		const database = new FakeDatabase({
			poison: { 1: '22021' },
			faults: ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'before-commit', 'before-commit'],
		});
		await assert.rejects(database.run(eight), unavailable);
		assert.deepEqual(database.refused, [[1, 'row']]);
		assert.deepEqual(database.concluded, [2, 3, 4]);
	});

	test('is begun anew at once, and not counted as repeated, when an attempt has learnt something', async () => {
		const database = new FakeDatabase({ faults: Array.from({ length: 20 }, () => 'again') });
		await database.run(eight);
		assert.deepEqual(database.committed, [eight]);
		assert.equal(database.repeats, 0);
	});

	for (const state of ['bug', 'XX000', '42703']) {
		test(`leaves out the item that fails for a reason that nobody knows (${state}), and holds what stands behind it in its order`, async () => {
			const database = new FakeDatabase({ poison: { 3: state }, sites: { 1: 100, 3: 100, 6: 100 } });
			await database.run(eight);
			assert.deepEqual(database.refused, [[3, 'unknown']]);
			assert.deepEqual(database.concluded, [1, 2, 4, 5, 7, 8]);
		});
	}

	test('is tried again, whatever fails, while the COMMIT of an earlier attempt may have happened: nobody else would ask', async () => {
		for (const fault of ['bug', '53300', 'time-out'] as const) {
			const database = new FakeDatabase({ faults: ['commit-carried-out', fault] });
			await database.run(eight).catch((error: unknown) => assert.ok(unavailable(error)));
			assert.deepEqual([database.refused, database.committed], [[], [eight]], fault);
		}
		const given = new FakeDatabase({ faults: ['commit-lost', 'bug', 'bug'], repeatsMax: 2 });
		await assert.rejects(given.run(eight), unavailable);
		assert.deepEqual(given.refused, []);
	});

	test('without any item is unavailable, whatever fails', async () => {
		await assert.rejects(new FakeDatabase({ faults: ['42P01'] }).run([]), unavailable);
	});
});
