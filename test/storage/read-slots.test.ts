import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { ReadCosts } from '#storage/read-costs.ts';
import { chosenSlot, type SlotLoad } from '#storage/read-slots.ts';

const now = { nowMs: 1000, dateMs: 5000 };

function slot(load: Partial<SlotLoad> = {}): SlotLoad {
	return { open: {}, inFlight: 0, longInFlight: 0, expectedMs: 0, progressMs: now.nowMs, failures: 0, notBeforeMs: 0, ...load };
}

/** Returns the place of the connection that is chosen for a short read. */
const placeOf = (...slots: SlotLoad[]) => slots.indexOf(chosenSlot(slots, 0.1, now) as SlotLoad);
const placeOfLong = (...slots: SlotLoad[]) => slots.indexOf(chosenSlot(slots, 40, now) as SlotLoad);

describe('the connection of a read', () => {
	test('is one that has short reads, though others have none', () => {
		assert.equal(placeOf(slot({ inFlight: 7, expectedMs: 0.7 }), slot(), slot()), 0);
	});

	test('is another one when the reads before it are many, or take long', () => {
		assert.equal(placeOf(slot({ inFlight: 8, expectedMs: 0.8 }), slot({ inFlight: 2, expectedMs: 0.2 }), slot()), 1);
		assert.equal(placeOf(slot({ inFlight: 1, longInFlight: 1, expectedMs: 50 }), slot()), 1);
	});

	test('is none that does not answer in the time that was expected', () => {
		assert.equal(placeOf(slot({ inFlight: 1, expectedMs: 0.1, progressMs: now.nowMs - 3 }), slot()), 1);
	});

	test('is the one that is done first when all have enough to do', () => {
		const busy = (inFlight: number, expectedMs: number, progressMs = now.nowMs) =>
			slot({ inFlight, longInFlight: 1, expectedMs, progressMs });
		assert.equal(placeOf(busy(2, 9), busy(2, 6), busy(3, 15)), 1);
		assert.equal(placeOf(busy(1, 300), busy(17, 1.7), busy(1, 5)), 1);
		assert.equal(placeOf(busy(1, 0.1, now.nowMs - 8000), busy(1, 5), busy(1, 7)), 1);
	});

	test('is the least busy one for a read that takes long, so that short ones go on sharing theirs', () => {
		assert.equal(placeOfLong(slot({ inFlight: 2, expectedMs: 0.2 }), slot()), 1);
		assert.equal(placeOfLong(slot({ inFlight: 2, expectedMs: 0.2 }), slot({ inFlight: 1, expectedMs: 40 })), 0);
	});

	test('is one that has to be opened only when those that are open have enough to do', () => {
		assert.equal(placeOf(slot({ open: undefined }), slot({ inFlight: 1, expectedMs: 0.2 })), 1);
		assert.equal(placeOf(slot({ open: undefined }), slot({ inFlight: 1, longInFlight: 1, expectedMs: 5 })), 0);
	});

	test('is one that cannot be opened only when none is open', () => {
		const failed = { open: undefined, failures: 1 };
		assert.equal(placeOf(slot({ ...failed, notBeforeMs: 6000 }), slot({ inFlight: 9, longInFlight: 9, expectedMs: 99 })), 1);
		assert.equal(placeOf(slot({ ...failed, notBeforeMs: 6000 }), slot({ ...failed, notBeforeMs: 4000 })), 1);
	});
});

describe('the costs of reads', () => {
	test('follow what statements of a name took, and expect much of one that nobody has seen', () => {
		const costs = new ReadCosts();
		assert.ok(costs.expectedMs('quick') > 1);
		for (let index = 0; index < 50; index++) costs.took('quick', 0.1);
		assert.ok(Math.abs(costs.expectedMs('quick') - 0.1) < 1e-9);
		costs.took('quick', 40);
		assert.ok(costs.expectedMs('quick') > 1);
		costs.took('quick', 30_000);
		for (let index = 0; index < 50; index++) costs.took('quick', 0.1);
		assert.ok(costs.expectedMs('quick') < 0.5);
	});

	test('are not known of a statement that is planned for its values', () => {
		const costs = new ReadCosts();
		costs.took(undefined, 0.1);
		assert.ok(costs.expectedMs(undefined) > 1);
	});

	test('are kept of a bounded number of statements', () => {
		const costs = new ReadCosts();
		for (let index = 0; index < 2000; index++) costs.took(`search_${index}`, 0.1);
		assert.ok(costs.expectedMs('search_0') > 1);
		assert.ok(costs.expectedMs('search_1999') < 1);
	});
});
