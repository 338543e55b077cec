import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Returning } from '#site/returning.ts';

/** A batch of so many is answered at 100 ms, which took 4 ms: its senders are expected for 1 ms. */
function answered(messages: number, returning = new Returning(4), tookMs = 4): Returning {
	returning.started();
	returning.answered(messages, tookMs, 100);
	return returning;
}

function arrive(returning: Returning, messages: number): void {
	for (let index = 0; index < messages; index++) returning.arrived();
}

/** One batch of eight after which so many come back in time. */
function batch(returning: Returning, comeBack: number): void {
	answered(8, returning);
	arrive(returning, comeBack);
	if (returning.waitMs(100.5) > 0) returning.timedOut();
}

describe('senders that were answered', () => {
	test('are waited for until all of them are back, or their time is over', () => {
		const returning = answered(3);
		assert.equal(returning.waitMs(100.25), 0.75);
		arrive(returning, 2);
		assert.equal(returning.waitMs(100.5), 0.5);
		arrive(returning, 1);
		assert.equal(returning.waitMs(100.5), 0);
		assert.equal(answered(3).waitMs(101), 0);
	});

	test('are waited for longer after a longer batch, and never long', () => {
		assert.equal(answered(3, undefined, 0.1).waitMs(100), 1);
		assert.equal(answered(3, undefined, 12).waitMs(100), 3);
		assert.equal(answered(3, undefined, 9000).waitMs(100), 4);
	});

	test('are not waited for where that is not wanted', () => {
		assert.equal(answered(3, new Returning(0)).waitMs(100), 0);
	});

	test('a single one is not waited for when it is back, and nobody before the first batch', () => {
		assert.equal(new Returning(4).waitMs(0), 0);
		const returning = answered(1);
		arrive(returning, 1);
		assert.equal(returning.waitMs(100), 0);
	});

	test('of whom none came back are not waited for again, until some batches later', () => {
		const returning = new Returning(4);
		batch(returning, 0);
		const waits: number[] = [];
		for (let index = 0; index < 4; index++) {
			answered(8, returning);
			waits.push(returning.waitMs(100));
			if (returning.waitMs(100) > 0) arrive(returning, 8);
		}
		assert.deepEqual(waits, [0, 1, 1, 1]);
	});

	test('of whom half came back are expected in that number', () => {
		const returning = new Returning(4);
		batch(returning, 4);
		answered(8, returning);
		arrive(returning, 3);
		assert.ok(returning.waitMs(100) > 0);
		arrive(returning, 1);
		assert.equal(returning.waitMs(100), 0);
	});
});
