import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { ReadCosts } from '#storage/read-costs.ts';
import { chosenSlot, type SlotLoad, type SlowLoad, slowSlot } from '#storage/read-slots.ts';

const now = { nowMs: 1000, dateMs: 5000 };

function slot(load: Partial<SlotLoad> = {}): SlotLoad {
	return {
		open: {},
		inFlight: 0,
		longInFlight: 0,
		slowInFlight: 0,
		expectedMs: 0,
		progressMs: now.nowMs,
		failures: 0,
		notBeforeMs: 0,
		...load,
	};
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

const named = (name: string) => ({ name, text: `select '${name}'` });
const unnamed = { name: undefined, text: 'select 1' };

describe('the connection of a long read', () => {
	const north = { expectedMs: 40, siteId: 'north' };
	const slow = (siteId: string): SlowLoad => slowLoad({ inFlight: 1, longInFlight: 1, slowInFlight: 1, expectedMs: 40 }, siteId);
	const slowLoad = (load: Partial<SlotLoad> = {}, siteId?: string): SlowLoad => ({
		...slot(load),
		slowOf: new Map(siteId === undefined ? [] : [[siteId, 1]]),
	});
	const placeOfRead = (read: typeof north, slots: SlowLoad[]) => {
		const chosen = slowSlot(slots, read, now);
		return chosen && slots.indexOf(chosen);
	};

	test('is never the first, which is left to short reads, while another can be opened', () => {
		assert.equal(placeOfRead(north, [slowLoad(), slowLoad(), slowLoad(), slowLoad()]), 1);
		assert.equal(placeOfRead(north, [slowLoad(), slow('south'), slow('south'), slow('west')]), undefined);
		const away = slowLoad({ open: undefined, failures: 1 });
		assert.equal(placeOfRead(north, [slowLoad(), away, away, away]), 0);
	});

	test('is there for another site when one has half of them', () => {
		const slots = [slowLoad(), slow('north'), slow('north'), slowLoad()];
		assert.equal(placeOfRead(north, slots), undefined);
		assert.equal(placeOfRead({ ...north, siteId: 'south' }, slots), 3);
		assert.equal(placeOfRead({ ...north, siteId: 'south' }, [slow('north'), slowLoad()]), 1);
		assert.equal(placeOfRead(north, [slow('north'), slowLoad()]), undefined);
	});

	test('is one with others before it only if they are done soon', () => {
		const some = (expectedMs: number, progressMs = now.nowMs) => [
			slowLoad({ inFlight: 1, longInFlight: 1, slowInFlight: 1, expectedMs, progressMs }),
		];
		const read = { ...north, expectedMs: 5 };
		assert.equal(placeOfRead(read, some(10)), 0);
		assert.equal(placeOfRead(read, some(18)), undefined);
		assert.equal(placeOfRead(read, some(10, now.nowMs - 30)), undefined);
	});
});

describe('the costs of reads', () => {
	test('follow what statements of a name took, and expect much of one that nobody has seen', () => {
		const costs = new ReadCosts();
		assert.ok(costs.expectedMs(named('quick')) > 1);
		for (let index = 0; index < 50; index++) costs.took(named('quick'), 0.1);
		assert.ok(Math.abs(costs.expectedMs(named('quick')) - 0.1) < 1e-9);
		costs.took(named('quick'), 40);
		assert.ok(costs.expectedMs(named('quick')) > 1);
		costs.took(named('quick'), 30_000);
		for (let index = 0; index < 50; index++) costs.took(named('quick'), 0.1);
		assert.ok(costs.expectedMs(named('quick')) < 0.5);
	});

	test('are not known of a statement that is planned for its values', () => {
		const costs = new ReadCosts();
		costs.took(unnamed, 0.1);
		assert.ok(costs.expectedMs(unnamed) > 1);
	});

	test('are those of a statement without a name by its text, and no less than those of an unseen one', () => {
		const costs = new ReadCosts();
		costs.took(unnamed, 90);
		assert.ok(costs.expectedMs(unnamed) > 50);
		assert.ok(costs.expectedMs({ name: undefined, text: 'select 2' }) < 50);
	});

	test('are learnt while a read goes on', () => {
		const costs = new ReadCosts();
		for (let index = 0; index < 50; index++) costs.took(named('quick'), 0.1);
		costs.takes(named('quick'), 60);
		assert.ok(costs.expectedMs(named('quick')) > 50);
		costs.takes(named('quick'), 1);
		assert.ok(costs.expectedMs(named('quick')) > 50);
	});

	test('are kept of a bounded number of statements', () => {
		const costs = new ReadCosts();
		for (let index = 0; index < 2000; index++) costs.took(named(`search_${index}`), 0.1);
		assert.ok(costs.expectedMs(named('search_0')) > 1);
		assert.ok(costs.expectedMs(named('search_1999')) < 1);
	});
});
