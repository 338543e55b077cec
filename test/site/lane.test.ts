import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BatchOutcome } from '#site/flights.ts';
import { Lane } from '#site/lane.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { ManualTimers, promisesSettle } from '#test/support/manual-timers.ts';
import { defaultLimits } from '../../src/limits.ts';
import { delivery, replyTo, Told } from './letters.ts';
import { drained, Rig } from './rig.ts';

describe('a batch', () => {
	test('starts at the end of the I/O phase, with all that came in it', async () => {
		const rig = new Rig();
		rig.send('a1 b1');
		rig.send('a2');
		assert.deepEqual(rig.batches, []);
		await rig.timers.turn();
		assert.deepEqual(rig.batches, ['a1 b1 a2']);
		assert.equal(rig.lane.messagesInFlight, 3);
	});

	test('is alone in flight: what comes meanwhile is the next one', async () => {
		const rig = new Rig();
		await rig.sent('a1');
		await rig.sent('a2 b1');
		assert.deepEqual(rig.batches, ['a1']);
		await rig.end();
		assert.deepEqual(rig.batches, ['a1', 'a2 b1']);
	});

	test('is not made of nothing', async () => {
		const rig = new Rig();
		await rig.sent('a1');
		await rig.end();
		await rig.timers.advance(60_000);
		assert.deepEqual([rig.batches, rig.lane.messagesInFlight], [['a1'], 0]);
	});

	// What waits, the batches that are made of it, and what they show.
	const taken: [string, string[], string][] = [
		['a1 a2 a3 a4 a5', ['a1 a2 a3 a4', 'a5'], 'a site alone gets the whole batch'],
		['a1 a2 a3 a4 a5 b1', ['a1 b1 a2 a3', 'a4 a5'], 'a site that sends much does not keep another waiting'],
		['a1 a2 a3 b1 b2 c1', ['a1 b1 c1 a2', 'b2 a3'], 'the next batch goes on where the last one was full'],
		['a1 b1 c1 d1 e1', ['a1 b1 c1 d1', 'e1'], 'more sites than places take turns'],
		['a1 b1 c1 d1 e1 a2 b2', ['a1 b1 c1 d1', 'e1 a2 b2'], 'a site that was left out comes first'],
		['c1 b1 a1', ['c1 b1 a1'], 'sites come in the order in which they began to wait'],
		['a1:60 a2:60', ['a1', 'a2'], 'bytes are bounded'],
		['a1:60 a2:40', ['a1 a2'], 'up to the bound and with it'],
		['a1:60 b1:60 c1:10', ['a1', 'b1 c1'], 'the one that was too large comes first in the next'],
		['a1:500 a2', ['a1', 'a2'], 'a message larger than the bound goes alone'],
		['a1:10 b1:500 a2:10', ['a1', 'b1', 'a2'], 'and is not passed over for ever'],
		['a1:0 a2:0 a3:0', ['a1 a2 a3'], 'messages without bytes count as messages'],
	];
	for (const [waiting, batches, title] of taken) {
		test(`${title}: ${waiting} → ${batches.join(' | ')}`, async () => {
			const rig = new Rig();
			await rig.sent(waiting);
			assert.deepEqual(await drained(rig), batches);
			assert.equal(rig.told.all.length, waiting.split(' ').length);
		});
	}

	test('makes room in the mailboxes that it takes from', async () => {
		const rig = new Rig({ batchMessagesMax: 2 });
		await rig.sent('a1 b1 c1');
		assert.deepEqual(rig.room, ['a', 'b']);
		assert.deepEqual([rig.lane.mailbox('a')?.length, rig.lane.mailbox('c')?.length, rig.lane.mailbox('d')], [0, 1, undefined]);
		assert.deepEqual(
			[...rig.lane.mailboxes()].map(({ siteId }) => siteId),
			['a', 'b', 'c'],
		);
	});
});

describe('an answer', () => {
	test('is given to each message when the batch is done, and not before', async () => {
		const rig = new Rig();
		await rig.sent('a1 b1 a2');
		assert.deepEqual(rig.told.take(), []);
		await rig.end();
		assert.deepEqual(rig.told.take(), ['a1 accepted', 'b1 accepted', 'a2 accepted']);
	});

	test('that is missing is an error of that message alone', async () => {
		const rig = new Rig();
		await rig.sent('a1 b1');
		await rig.endWith({ kind: 'done', replies: [replyTo({ id: 'a1' })] });
		assert.deepEqual(rig.told.take(), ['a1 accepted', 'b1 a batch answered fewer messages than it was given']);
	});
});

describe('senders that were just answered', () => {
	const limits = { batchWaitMsMax: 4 };

	/** The answer to two senders after a batch of 8 ms: they are waited for 2 ms. */
	async function answeredTwo(): Promise<Rig> {
		const rig = new Rig(limits);
		await rig.sent('a1 b1');
		await rig.end('done', 8);
		return rig;
	}

	test('are waited for: the batch starts when all are back', async () => {
		const rig = await answeredTwo();
		await rig.sent('a2');
		assert.deepEqual([rig.batches.length, rig.timers.due], [1, [2]]);
		await rig.sent('b2');
		assert.deepEqual([rig.batches[1], rig.timers.due], ['a2 b2', []]);
	});

	test('are not waited for longer than their time', async () => {
		const rig = await answeredTwo();
		await rig.sent('a2');
		await rig.timers.advance(1.5);
		assert.equal(rig.batches.length, 1);
		await rig.timers.advance(0.5);
		assert.equal(rig.batches[1], 'a2');
	});

	test('keep the process meanwhile: a message waits', async () => {
		const rig = await answeredTwo();
		await rig.sent('a2');
		assert.equal(rig.timers.holdsProcess, true);
	});

	test('are not waited for when nobody else waits either', async () => {
		const rig = await answeredTwo();
		assert.deepEqual(rig.timers.due, []);
	});

	test('are not waited for by a batch that is full without them', async () => {
		const rig = new Rig({ ...limits, batchMessagesMax: 2 });
		await rig.sent('a1 b1');
		rig.send('c1 d1');
		await rig.end('done', 8);
		assert.deepEqual(rig.batches, ['a1 b1', 'c1 d1']);
	});

	test('a lone sender is served at once when it is back', async () => {
		const rig = new Rig(limits);
		await rig.sent('a1');
		await rig.end('done', 8);
		await rig.sent('a2');
		assert.deepEqual(rig.batches, ['a1', 'a2']);
	});

	test('nobody is waited for after a batch that could not be stored, but until the next attempt', async () => {
		const rig = new Rig(limits);
		await rig.sent('a1 b1');
		await rig.end('unavailable', 8);
		assert.deepEqual(rig.timers.due, [50]);
	});
});

describe('the end of a lane', () => {
	test('is idle at once when nothing waits', async () => {
		await new Rig().lane.idle();
	});

	test('is idle when all that was taken is answered', async () => {
		const rig = new Rig({ batchMessagesMax: 1 });
		await rig.sent('a1 a2');
		const idle: string[] = [];
		for (const name of ['one', 'other']) void rig.lane.idle().then(() => idle.push(name));
		await rig.end();
		assert.deepEqual(idle, []);
		await rig.end();
		assert.deepEqual(idle, ['one', 'other']);
	});

	test('is not idle while what could not be stored waits for the next attempt', async () => {
		const rig = new Rig();
		await rig.sent('a1');
		let isIdle = false;
		void rig.lane.idle().then(() => {
			isIdle = true;
		});
		await rig.end('unavailable');
		assert.equal(isIdle, false);
		await rig.timers.advance(50);
		await rig.end();
		assert.equal(isIdle, true);
	});

	test('takes no further batch once it is closed', async () => {
		const rig = new Rig({ batchMessagesMax: 1 });
		await rig.sent('a1 a2');
		rig.lane.close();
		await rig.end();
		await rig.timers.advance(10_000);
		assert.deepEqual([rig.batches, rig.told.take()], [['a1'], ['a1 accepted']]);
	});
});

test('whatever happens to batches, each site’s messages take effect once and in their order, and each sender is told once', async () => {
	const step = fc.oneof(
		fc.record({ kind: fc.constant('send' as const), site: fc.constantFrom('a', 'b', 'c') }),
		fc.record({ kind: fc.constantFrom('done', 'done', 'unavailable', 'crashed') }),
		fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 200 }) }),
	);
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
			const sent: string[] = [];
			const applied: string[] = [];
			const told = new Told();
			const timers = new ManualTimers();
			let end: ((kind: BatchOutcome['kind']) => void) | undefined;
			const lane = new Lane({
				limits: { ...defaultLimits, batchMessagesMax: 3, batchWaitMsMax: 4 },
				timers,
				nowMs: () => timers.elapsedMs(),
				process: (deliveries) =>
					new Promise((resolve) => {
						end = (kind) => {
							end = undefined;
							if (kind === 'done') applied.push(...deliveries.map(({ id }) => id));
							resolve(kind === 'done' ? { kind, replies: deliveries.map(replyTo) } : { kind });
						};
					}),
				onAvailability: () => undefined,
				onRoom: () => undefined,
			});
			for (const one of steps) {
				if (one.kind === 'send' && 'site' in one) {
					sent.push(`${one.site}${sent.length}`);
					told.watch(sent.at(-1) ?? '', lane.deliver(delivery(sent.at(-1) ?? '')));
				} else if (one.kind === 'wait' && 'ms' in one) await timers.advance(one.ms);
				else end?.(one.kind as BatchOutcome['kind']);
				await timers.settle();
			}
			for (let idle = 0; idle < 3; idle++) {
				await timers.advance(2000);
				if (end !== undefined) idle = 0;
				end?.('done');
				await promisesSettle();
			}
			for (const site of ['a', 'b', 'c']) {
				const ofSite = (names: string[]) => names.filter((name) => name.startsWith(site));
				assert.deepEqual(ofSite(applied), ofSite(sent));
			}
			assert.deepEqual(told.all.toSorted(), sent.map((name) => `${name} accepted`).toSorted());
		}),
		{ numRuns: runs(60) },
	);
});
