import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { Rig } from './shards-rig.ts';

/** One worker of two lanes: sites 0 and 2 are in the first, 1 and 3 in the second. */
const rigOf = (t: TestContext, mayHaveSecondThread = true) => new Rig(t, { workers: 1, mayHaveSecondThread });

const placesOf = (rig: Rig, from: number) => rig.given.slice(from).map(({ place, messages }) => `${place}: ${messages}`);

/** Has batches of the second lane meet one of the first, which stays under way. */
async function meet(rig: Rig, times: number): Promise<void> {
	for (let index = 0; index < times; index++) {
		await rig.sent(`1${index}`);
		if (index < times - 1) await rig.end();
	}
}

describe('a thread of its own for the second lane', () => {
	test('begins when batches of both lanes have met often; the lane goes on meanwhile, then there', async (t) => {
		const rig = rigOf(t);
		await rig.sent('01');
		await meet(rig, 31);
		assert.deepEqual(new Set(rig.given.map(({ place }) => place)), new Set(['0/0', '0/1']));
		await rig.end();
		const from = rig.given.length;
		await rig.sent('1a');
		// The empty batch begins the thread.
		assert.deepEqual(placesOf(rig, from), ['1/0: ', '0/1: 1a']);
		await rig.end();
		await rig.sent('1b');
		assert.deepEqual(placesOf(rig, from + 2), ['0/1: 1b']);
		await rig.end();
		await rig.end(() => rig.given[from]?.done());
		await rig.sent('1c 1d');
		await rig.sent('3a');
		assert.deepEqual(placesOf(rig, from + 3), ['1/0: 1c 1d']);
		await rig.end();
		assert.deepEqual(placesOf(rig, from + 4), ['1/0: 3a']);
		await rig.sent('21 02');
		await rig.end(() => rig.given[0]?.done());
		assert.deepEqual(placesOf(rig, from + 5), ['0/0: 21 02']);
	});

	test('is tried again when it did not begin', async (t) => {
		const rig = rigOf(t);
		await rig.sent('01');
		await meet(rig, 32);
		await rig.end();
		const begun = () => rig.given.filter(({ messages }) => messages === '');
		assert.equal(begun().length, 1);
		await rig.end(() => begun()[0]?.crash());
		await meet(rig, 32);
		assert.equal(begun().length, 2);
		await rig.end();
		await rig.end(() => begun()[1]?.unavailable());
		await meet(rig, 32);
		assert.equal(begun().length, 3);
	});

	test('is not begun for batches that seldom meet, however long that goes on', async (t) => {
		const rig = rigOf(t);
		for (let round = 0; round < 50; round++) {
			await rig.sent('01');
			await rig.sent('11');
			await rig.end();
			await rig.end(() => rig.given.at(-2)?.done());
			for (const next of ['12', '13']) {
				await rig.sent(next);
				await rig.end();
			}
		}
		assert.ok(rig.given.every(({ messages }) => messages !== ''));
	});

	test('is not begun for what is tried again while nothing can be stored', async (t) => {
		const rig = rigOf(t);
		await rig.sent('01 11');
		for (let round = 0; round < 80; round++) {
			await rig.end(() => {
				for (const given of rig.given.slice(-2)) given.unavailable();
			});
			await rig.timers.advance(1000);
		}
		assert.ok(rig.given.length > 100);
		assert.ok(rig.given.every(({ place }) => place.startsWith('0/')));
	});

	test('is not begun for batches that do not meet', async (t) => {
		const rig = rigOf(t);
		for (let index = 0; index < 70; index++) {
			await rig.sent(`${index % 2}${index}`);
			await rig.end();
		}
		assert.ok(rig.given.every(({ messages }) => messages !== ''));
	});

	test('is not begun where the number of workers was chosen', async (t) => {
		const rig = rigOf(t, false);
		await rig.sent('01');
		await meet(rig, 70);
		assert.ok(rig.given.every(({ place }) => place.startsWith('0/')));
	});
});
