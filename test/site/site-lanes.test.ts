import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Rig } from './shards-rig.ts';

/** One thread of two lanes. The ids of the sites a and c lead to the first, those of b and d to the second. */
const one = { workers: 1 };

/** `a1 … a8`, more than a batch of its own costs. */
const eight = many('a', 1, 8);

function many(site: string, from: number, count: number): string {
	return Array.from({ length: count }, (_, index) => `${site}${from + index}`).join(' ');
}

const batches = ({ given }: Rig) => given.map(({ place, messages }) => `${place} ${messages}`);
const last = (rig: Rig) => batches(rig).at(-1);

/** Ends the batch of these messages. */
const end = (rig: Rig, messages: string) =>
	rig.end(() => (rig.given.find((given) => given.messages === messages) ?? assert.fail(`there is no batch ${messages}`)).done());

describe('the lane of a site', () => {
	test('is that of its id while nothing is in hand there', async (t) => {
		const rig = new Rig(t, one);
		await rig.sent('a1');
		await end(rig, 'a1');
		await rig.sent('c1');
		assert.deepEqual(batches(rig), ['0/0 a1', '0/0 c1']);
	});

	test('is another one that has nothing in hand', async (t) => {
		const rig = new Rig(t, one);
		await rig.sent('a1');
		await rig.sent('c1');
		assert.deepEqual(batches(rig), ['0/0 a1', '0/1 c1']);
	});

	test('is its own while the others have about as much in hand', async (t) => {
		const rig = new Rig(t, one);
		await rig.sent('a1');
		await rig.sent('b1');
		await rig.sent('c1');
		assert.equal(batches(rig).length, 2);
		await end(rig, 'a1');
		assert.equal(last(rig), '0/0 c1');
	});

	test('is the one that has the least in hand, where its own has much more', async (t) => {
		const rig = new Rig(t, one);
		await rig.sent(eight);
		await rig.sent('b1');
		await rig.sent('c1');
		assert.deepEqual(batches(rig), [`0/0 ${eight}`, '0/1 b1']);
		await end(rig, 'b1');
		assert.equal(last(rig), '0/1 c1');
	});

	test('stays the same while a message of it waits or is under way', async (t) => {
		const rig = new Rig(t, one);
		await rig.sent(eight);
		await rig.sent('c1');
		await rig.sent(many('b', 1, 20));
		await end(rig, eight);
		// The first lane has nothing in hand, but c1 has not ended in the second.
		await rig.sent('c2');
		assert.equal(batches(rig).length, 2);
		await end(rig, 'c1');
		assert.equal(last(rig)?.startsWith('0/1 b1 c2 b2'), true);
	});

	test('is the one that it had last, until something is in hand there', async (t) => {
		const rig = new Rig(t, one);
		await rig.sent(eight);
		await rig.sent('c1');
		await end(rig, 'c1');
		await end(rig, eight);
		await rig.sent('c2');
		assert.equal(last(rig), '0/1 c2');
		await end(rig, 'c2');
		await rig.sent('b1');
		await rig.sent('c3');
		assert.equal(last(rig), '0/0 c3');
	});

	test('has what waits of it counted, wherever that is', async (t) => {
		const rig = new Rig(t, { ...one, limits: { mailboxMessagesMax: 8 } });
		await rig.sent(eight);
		await rig.sent('c1');
		await rig.sent(many('c', 2, 9));
		assert.equal(batches(rig)[1], '0/1 c1');
		assert.deepEqual([...rig.shards.waitingBySite().values()], [8]);
		assert.deepEqual(rig.told.all, ['c10 unavailable']);
	});
});

test('a batch has few messages of one site while others send, and as many as there are when it sends alone', async (t) => {
	const rig = new Rig(t, { ...one, limits: { batchSiteMessagesMax: 3, siteAloneMs: 1000, batchAheadMin: 0 } });
	await rig.sent(many('a', 1, 5));
	await rig.sent('b1');
	assert.deepEqual(batches(rig), [`0/0 ${many('a', 1, 5)}`, '0/1 b1']);
	await rig.sent(many('a', 6, 5));
	await end(rig, many('a', 1, 5));
	assert.equal(last(rig), '0/0 a6 a7 a8');
	await rig.timers.advance(1000);
	await rig.sent(many('a', 11, 3));
	await end(rig, 'a6 a7 a8');
	assert.equal(last(rig), `0/0 a9 a10 ${many('a', 11, 3)}`);
});

test('a batch is not interpreted ahead in one lane while a site of another lane sends', async (t) => {
	const rig = new Rig(t, { ...one, limits: { siteAloneMs: 1000, batchAheadMin: 2 } });
	await rig.sent('a1 a2');
	await rig.sent('b1');
	await rig.sent('a3 a4');
	assert.deepEqual(batches(rig), ['0/0 a1 a2', '0/1 b1']);
	await rig.timers.advance(1000);
	await rig.sent('a5');
	assert.equal(last(rig), '0/0 a3 a4 a5');
});
