import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BatchOutcome } from '#site/flights.ts';
import { promisesSettle } from '#test/support/manual-timers.ts';
import { drained, Rig } from './rig.ts';

describe('when nothing can be stored', () => {
	test('the batch is tried again, in its order and before what came later', async () => {
		const rig = new Rig();
		await rig.sent('a1 b1 a2');
		rig.send('a3 b2 c1');
		await rig.end('unavailable');
		assert.deepEqual([rig.batches, rig.told.take()], [['a1 b1 a2'], []]);
		await rig.timers.advance(50);
		assert.deepEqual(rig.batches, ['a1 b1 a2', 'a1 b1 c1 a2']);
		await rig.end();
		await rig.end();
		assert.deepEqual(rig.batches.slice(2), ['b2 a3']);
		assert.deepEqual(rig.told.take(), ['a1 accepted', 'b1 accepted', 'c1 accepted', 'a2 accepted', 'b2 accepted', 'a3 accepted']);
	});

	const waits: [number, number[], string][] = [
		[30_000, [50, 100, 200, 400, 800, 1000, 1000], 'twice as long each time, up to a second'],
		[2000, [50, 100, 200, 400, 500, 500], 'up to a quarter of what a message waits'],
	];
	for (const [unavailableMsMax, expected, title] of waits) {
		test(`attempts follow ${title}`, async () => {
			const rig = new Rig({ unavailableMsMax });
			await rig.sent('a1');
			const observed: number[] = [];
			for (let attempt = 0; attempt < expected.length; attempt++) {
				await rig.end('unavailable');
				const [waitMs = Number.NaN] = rig.timers.due;
				observed.push(waitMs);
				await rig.timers.advance(waitMs);
			}
			assert.deepEqual(observed, expected);
			assert.equal(rig.batches.length, expected.length + 1);
		});
	}

	test('that is told once when it begins and once when it ends', async () => {
		const rig = new Rig();
		await rig.sent('a1');
		assert.equal(rig.lane.available, true);
		for (let attempt = 0; attempt < 3; attempt++) {
			await rig.end('unavailable');
			assert.equal(rig.lane.available, false);
			await rig.timers.advance(1000);
		}
		await rig.end();
		assert.deepEqual([rig.availability, rig.lane.available], [[false, true], true]);
	});

	test('a new message does not bring the next attempt forward', async () => {
		const rig = new Rig();
		await rig.sent('a1');
		await rig.end('unavailable');
		await rig.sent('b1');
		await rig.timers.advance(49);
		assert.equal(rig.batches.length, 1);
		await rig.timers.advance(1);
		assert.deepEqual(rig.batches, ['a1', 'a1 b1']);
	});

	test('the wait for the next attempt does not keep the process', async () => {
		const rig = new Rig();
		await rig.sent('a1');
		await rig.end('unavailable');
		assert.equal(rig.timers.holdsProcess, false);
	});

	test('an empty batch finds out when that ends, though nobody waits any more', async () => {
		const rig = new Rig({ unavailableMsMax: 200 });
		await rig.sent('a1');
		await rig.end('unavailable', 190);
		await rig.timers.advance(20);
		rig.lane.expire();
		await rig.timers.advance(30);
		assert.deepEqual(rig.batches, ['a1', '']);
		await rig.end();
		assert.deepEqual([rig.availability, rig.timers.due, rig.told.all], [[false, true], [], ['a1 unavailable']]);
	});

	test('the next time it begins anew with the shortest wait', async () => {
		const rig = new Rig();
		await rig.sent('a1');
		await rig.end('unavailable');
		await rig.timers.advance(50);
		await rig.end('unavailable');
		await rig.timers.advance(100);
		await rig.end();
		await rig.sent('a2');
		await rig.end('unavailable');
		assert.deepEqual(rig.timers.due, [50]);
	});
});

describe('when the worker ends in the middle of a batch', () => {
	/** What is sent, the outcomes of the batches one after the other, and the batches. */
	const cases: [string, string, BatchOutcome['kind'][], string[]][] = [
		['its messages go one by one', 'a1 b1 a2', ['crashed', 'done', 'done'], ['a1 b1 a2', 'a1', 'b1 a2']],
		[
			'the innocent before the guilty are answered at once',
			'a1 a2 a3',
			['crashed', 'done', 'crashed', 'done'],
			['a1 a2 a3', 'a1', 'a2 a3', 'a2', 'a3'],
		],
		['a message that does it twice alone is withheld', 'a1', ['crashed', 'crashed', 'done'], ['a1', 'a1', 'a1!']],
		['once alone is not enough', 'a1', ['crashed', 'done'], ['a1', 'a1']],
		[
			'in company it does not count against a message',
			'a1 b1',
			['crashed', 'crashed', 'crashed', 'done', 'done'],
			['a1 b1', 'a1', 'a1', 'a1!', 'b1'],
		],
		[
			'what comes behind a withheld message keeps its place',
			'a1 a2',
			['crashed', 'crashed', 'crashed', 'done', 'done'],
			['a1 a2', 'a1', 'a1', 'a1!', 'a2'],
		],
	];
	for (const [title, waiting, outcomes, batches] of cases) {
		test(`${title}: ${waiting}`, async () => {
			const rig = new Rig();
			await rig.sent(waiting);
			for (const outcome of outcomes) {
				await rig.end(outcome);
				await rig.timers.advance(50);
			}
			assert.deepEqual(rig.batches, batches);
		});
	}

	test('batches grow again, twice as large each time, up to the limit', async () => {
		const rig = new Rig({ batchMessagesMax: 6 });
		await rig.sent('a1 a2');
		await rig.end('crashed');
		rig.send(Array.from({ length: 18 }, (_, index) => `a${index + 3}`).join(' '));
		await rig.timers.advance(50);
		await drained(rig).catch(() => undefined);
		assert.deepEqual(
			rig.batches.slice(1).map((batch) => batch.split(' ').length),
			[1, 2, 4, 6, 6, 1],
		);
	});

	test('the next attempt is soon, however often it was', async () => {
		const rig = new Rig();
		await rig.sent('a1');
		for (let attempt = 0; attempt < 4; attempt++) {
			await rig.end('crashed');
			assert.deepEqual(rig.timers.due, [50]);
			await rig.timers.advance(50);
		}
		assert.deepEqual(rig.availability, [false]);
	});
});

describe('what waits too long', () => {
	const limits = { unavailableMsMax: 1000, batchMessagesMax: 1 };

	test('is given up, and its sender is told to send it again', async () => {
		const rig = new Rig(limits);
		await rig.sent('a1 b1');
		await rig.timers.advance(1001);
		rig.lane.expire();
		await promisesSettle();
		assert.deepEqual(rig.told.take().sort(), ['a1 unavailable', 'b1 unavailable']);
		assert.equal(rig.lane.mailbox('b')?.length, 0);
	});

	test('is not given up at the limit, but after it', async () => {
		const rig = new Rig(limits);
		await rig.sent('a1 b1');
		await rig.timers.advance(1000);
		rig.lane.expire();
		await promisesSettle();
		assert.deepEqual(rig.told.take(), []);
	});

	test('takes along all that waits for the site: a later message must not take effect before an earlier one that is sent again', async () => {
		const rig = new Rig(limits);
		await rig.sent('a1 b1');
		await rig.timers.advance(600);
		rig.send('b2 c1');
		await rig.timers.advance(500);
		rig.lane.expire();
		await promisesSettle();
		assert.deepEqual(rig.told.take().sort(), ['a1 unavailable', 'b1 unavailable', 'b2 unavailable']);
		await rig.end();
		assert.deepEqual(rig.batches, ['a1', 'c1']);
	});

	test('in flight is not stopped, and its answer comes too late for the sender', async () => {
		const rig = new Rig(limits);
		await rig.sent('a1');
		await rig.timers.advance(1001);
		rig.lane.expire();
		await rig.end();
		assert.deepEqual(rig.told.take(), ['a1 unavailable']);
	});

	test('makes room', async () => {
		const rig = new Rig(limits);
		await rig.sent('a1 b1');
		rig.room.length = 0;
		await rig.timers.advance(1001);
		rig.lane.expire();
		assert.deepEqual(rig.room, ['b']);
	});

	test('does not hold up the site afterwards', async () => {
		const rig = new Rig(limits);
		await rig.sent('a1 b1');
		await rig.timers.advance(1001);
		rig.lane.expire();
		await rig.sent('b2');
		await rig.end();
		assert.deepEqual(rig.batches, ['a1', 'b2']);
	});
});
