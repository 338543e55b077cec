import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deliveriesOf, resultOf } from '#site/task.ts';
import type { WorkerPool } from '#site/worker-pool.ts';
import { promisesSettle } from '#test/support/manual-timers.ts';
import type { Limits } from '../../src/limits.ts';
import { replyTo } from './letters.ts';
import { of, Rig, siteOf, stages } from './shards-rig.ts';

describe('sites and lanes', () => {
	test('each site has a lane, two of them a worker; lanes of both workers are in flight at once', async (t) => {
		const rig = new Rig(t);
		await rig.sent('01 11 21 31 41 51');
		assert.deepEqual(
			rig.given.map(({ place, messages }) => `${place}: ${messages}`),
			['0/0: 01 41', '0/1: 11 51', '1/0: 21', '1/1: 31'],
		);
	});

	test('a site keeps its lane, so that its messages follow each other', async (t) => {
		const rig = new Rig(t);
		await rig.sent('01');
		await rig.sent('02 03');
		assert.equal(rig.given.length, 1);
		await rig.end();
		assert.deepEqual([rig.given[1]?.place, rig.given[1]?.messages], ['0/0', '02 03']);
	});

	test('the bytes of a message come to the worker as they were', async (t) => {
		let bytes: Uint8Array[] = [];
		const openPool = (): WorkerPool => ({
			threads: [],
			cpuMs: () => 0,
			run: (task) => {
				const deliveries = deliveriesOf(task);
				bytes = deliveries.map((one) => one.bytes);
				return Promise.resolve(resultOf(deliveries.map(replyTo), stages));
			},
			destroy: () => Promise.resolve(),
		});
		const rig = new Rig(t, { openPool });
		const [one, other] = [of('01', 3), of('02', 2)];
		one.bytes.set([1, 2, 3]);
		other.bytes.set([4, 5]);
		rig.told.watch('01', rig.shards.deliver(one));
		rig.told.watch('02', rig.shards.deliver(other));
		await rig.timers.settle();
		assert.deepEqual(
			bytes.map((part) => [...part]),
			[
				[1, 2, 3],
				[4, 5],
			],
		);
		assert.deepEqual(rig.told.take(), ['01 accepted', '02 accepted']);
	});
});

describe('room', () => {
	// Limits, what waits behind a batch in flight, whether there is room for site 0 and so many bytes.
	const cases: [string, Partial<Limits>, string, number, boolean][] = [
		['is there while fewer messages of its client wait than may', { mailboxClientMessagesMax: 3 }, '02 03', 1, true],
		['is not there when as many of its client wait as may', { mailboxClientMessagesMax: 2 }, '02 03', 1, false],
		['is there up to the bytes of a client', { mailboxClientBytesMax: 100 }, '02:60', 40, true],
		['is not there beyond the bytes of a client', { mailboxClientBytesMax: 100 }, '02:60', 41, false],
		['is there while fewer messages wait than may', { mailboxMessagesMax: 3 }, '02 03', 1, true],
		['is not there when as many wait as may', { mailboxMessagesMax: 2 }, '02 03', 1, false],
		['another site’s messages do not count', { mailboxMessagesMax: 2 }, '41 42 02', 1, true],
		['is there up to the bytes of a mailbox', { mailboxBytesMax: 100 }, '02:60', 40, true],
		['is not there beyond the bytes of a mailbox', { mailboxBytesMax: 100 }, '02:60', 41, false],
		['an empty mailbox takes one message of any size', { mailboxBytesMax: 100 }, '41', 1000, true],
		['is not there when all sites together wait with too much', { waitingBytesMax: 100 }, '41:60 12:1 13:60', 1, false],
		['is there below that', { waitingBytesMax: 100 }, '41:60 12:1 13:38', 1, true],
	];
	for (const [title, limits, waiting, bytes, expected] of cases) {
		test(`${title}: ${waiting} wait`, async (t) => {
			const rig = new Rig(t, { limits });
			// Each of the four lanes has something in hand, so sites stay in their own.
			await rig.sent('01 11 21 31');
			await rig.sent(waiting);
			assert.equal(rig.shards.hasRoom(siteOf('0'), 'client', bytes), expected);
		});
	}

	test('is there for another client of the site when one has its share', async (t) => {
		const rig = new Rig(t, { limits: { mailboxClientMessagesMax: 2 } });
		await rig.sent('01');
		await rig.sent('02 03 04');
		assert.deepEqual(rig.told.take(), ['04 unavailable']);
		assert.equal(await rig.counted('mailboxFull', { holder: 'client' }), 1);
		assert.equal(rig.shards.hasRoom(siteOf('0'), 'another', 1), true);
		await rig.end();
		assert.equal(rig.shards.hasRoom(siteOf('0'), 'client', 1), true);
	});

	test('a site’s own limit holds below that of all sites, and not above it', async (t) => {
		for (const [own, expected] of [
			[1, false],
			[2, true],
			[99, true],
			[undefined, true],
		] as const) {
			const rig = new Rig(t, { waitingMaxOf: () => own, limits: { mailboxMessagesMax: 2 } });
			await rig.sent('01');
			await rig.sent('02');
			assert.equal(rig.shards.hasRoom(siteOf('0'), 'client', 1), expected, `own limit ${own}`);
			if (own === 99) {
				await rig.sent('03');
				assert.equal(rig.shards.hasRoom(siteOf('0'), 'client', 1), false);
			}
		}
	});

	test('without it a message is refused as unavailable, for a second, and counted', async (t) => {
		const rig = new Rig(t, { limits: { mailboxMessagesMax: 1 } });
		await rig.sent('01');
		await rig.sent('02 03');
		assert.deepEqual(rig.told.take(), ['03 unavailable']);
		assert.equal(await rig.counted('mailboxFull', { holder: 'site' }), 1);
		await assert.rejects(rig.shards.deliver(of('04')), { code: 'unavailable', retryAfterSeconds: 1 });
	});

	test('who waits for it is told when a batch takes from the mailbox', async (t) => {
		const rig = new Rig(t, { limits: { mailboxMessagesMax: 1 } });
		await rig.sent('01');
		await rig.sent('02');
		const told: string[] = [];
		const due = rig.timers.due.length;
		for (const name of ['one', 'other']) void rig.shards.whenRoom(siteOf('0')).then(() => told.push(name));
		await rig.timers.settle();
		assert.deepEqual(told, []);
		await rig.end();
		assert.deepEqual(told, ['one', 'other']);
		assert.deepEqual(rig.timers.due.length, due);
	});

	test('who waits for it asks again after a short while', async (t) => {
		const rig = new Rig(t);
		let told = false;
		void rig.shards.whenRoom(siteOf('0')).then(() => {
			told = true;
		});
		await rig.timers.advance(249);
		assert.equal(told, false);
		await rig.timers.advance(1);
		await promisesSettle();
		assert.equal(told, true);
	});
});

describe('what is under way', () => {
	test('what waits is counted over all sites and by site; what is in flight no longer waits', async (t) => {
		const rig = new Rig(t);
		await rig.sent('01 11 21 31');
		await rig.sent('02:10 03:5 12 41:7');
		assert.deepEqual(rig.shards.waiting(), { messages: 4, bytes: 23, deepest: 2 });
		assert.deepEqual(
			[...rig.shards.waitingBySite()],
			[
				[siteOf('0'), 2],
				[siteOf('4'), 1],
				[siteOf('1'), 1],
			],
		);
	});

	test('what waits too long is given up by the sweep, also behind a batch that hangs', async (t) => {
		const rig = new Rig(t, { limits: { unavailableMsMax: 1000 } });
		await rig.sent('01');
		await rig.sent('02');
		await rig.timers.advance(1000);
		assert.deepEqual(rig.told.take(), []);
		await rig.timers.advance(250);
		assert.deepEqual(rig.told.take().sort(), ['01 unavailable', '02 unavailable']);
		assert.equal(rig.shards.waiting().messages, 0);
	});

	test('a lane that cannot store makes the service unavailable until it can; the others go on', async (t) => {
		const rig = new Rig(t);
		await rig.sent('01');
		await rig.end((given) => given.unavailable());
		assert.equal(rig.shards.available(), false);
		assert.deepEqual([await rig.counted('shardAvailable', { shard: '0' }), await rig.counted('shardAvailable', { shard: '1' })], [0, 1]);
		await rig.sent('11');
		await rig.end();
		assert.deepEqual(rig.told.take(), ['11 accepted']);
		await rig.timers.advance(50);
		await rig.end();
		assert.deepEqual(rig.told.take(), ['01 accepted']);
		assert.equal(rig.shards.available(), true);
		assert.equal(await rig.counted('shardAvailable', { shard: '0' }), 1);
	});

	test('a worker that ends is counted, and its batch is tried again', async (t) => {
		const rig = new Rig(t);
		await rig.sent('01');
		await rig.end((given) => given.crash());
		assert.deepEqual([await rig.counted('workerRestarts'), await rig.counted('batchRetries', { reason: 'worker' })], [1, 1]);
		await rig.timers.advance(50);
		await rig.end();
		assert.deepEqual(rig.told.take(), ['01 accepted']);
	});

	test('what a batch had to repeat and to split is counted', async (t) => {
		const rig = new Rig(t);
		await rig.sent('01');
		await rig.end((given) => given.done({ repeats: 2, bisections: 3 }));
		assert.deepEqual([await rig.counted('batchRetries', { reason: 'database' }), await rig.counted('batchBisections')], [2, 3]);
	});
});

describe('closing', () => {
	test('waits for what was taken, then ends the workers', async (t) => {
		const rig = new Rig(t);
		await rig.sent('01');
		let closed = false;
		const closing = rig.shards.close(1000).then(() => {
			closed = true;
		});
		await promisesSettle();
		assert.deepEqual([closed, rig.destroyed], [false, 0]);
		await rig.end();
		await closing;
		assert.deepEqual([rig.destroyed, rig.told.take()], [2, ['01 accepted']]);
	});

	test('waits no longer than it is told', async (t) => {
		const rig = new Rig(t);
		await rig.sent('01');
		await rig.close(1000);
		assert.equal(rig.destroyed, 2);
	});

	test('a worker that ends then is no crash', async (t) => {
		const rig = new Rig(t);
		await rig.sent('01');
		await rig.close(1000);
		await rig.end((given) => given.crash());
		assert.equal(await rig.counted('workerRestarts'), 0);
	});

	test('afterwards takes nothing, is not available and leaves no timer behind', async (t) => {
		const rig = new Rig(t);
		await rig.close();
		assert.equal(rig.shards.available(), false);
		await assert.rejects(rig.shards.deliver(of('01')), { code: 'unavailable' });
		await rig.timers.advance(1000);
		assert.deepEqual(rig.timers.due, []);
	});
});

describe('the watch over processor time', () => {
	test('looks while a worker has work, and a second longer', async (t) => {
		const rig = new Rig(t);
		// The sweep makes a round every 250 ms from a1 on, and never within 50 ms after the moments of this test.
		const looks = () => rig.timers.due.filter((ms) => ms <= 50).length;
		await rig.timers.advance(100);
		assert.equal(looks(), 0);
		await rig.sent('a1');
		await rig.timers.advance(10_000);
		assert.equal(looks(), 1);
		await rig.end();
		await rig.timers.advance(500);
		assert.equal(looks(), 1);
		await rig.timers.advance(680);
		assert.equal(looks(), 0);
		await rig.sent('a2');
		assert.equal(looks(), 1);
		await rig.end();
	});
});
