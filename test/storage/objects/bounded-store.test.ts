import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { silentLog } from '#core/log.ts';
import type { StoreStep } from '#storage/metrics.ts';
import { BoundedStore } from '#storage/objects/bounded-store.ts';
import type { ListedObject, ObjectStore, ObjectWriter } from '#storage/objects/object-store.ts';
import { StoreHealth } from '#storage/objects/store-health.ts';
import { TimeLimit } from '#storage/objects/time-limit.ts';
import { eventually } from '#test/support/eventually.ts';
import { holdProcess } from '#test/support/held-process.ts';
import { ManualTimers } from '#test/support/manual-timers.ts';
import { createMetrics } from '../../../src/metrics.ts';

const about = { sopInstanceUid: '1', callingAe: '', source: '' };
const refused = { code: 'unavailable', diagnostics: 'the object store does not answer' };

/** A store that hangs in the given step until it is let go. */
class HangingStore implements ObjectStore {
	readonly done: string[] = [];
	hangsIn: StoreStep | undefined;
	#letGo: (() => void)[] = [];

	letGo(): void {
		this.hangsIn = undefined;
		for (const go of this.#letGo.splice(0)) go();
	}

	async #step<T>(step: StoreStep, outcome: T): Promise<T> {
		if (this.hangsIn === step) await new Promise<void>((resolve) => this.#letGo.push(resolve));
		this.done.push(step);
		return outcome;
	}

	begin(): ObjectWriter {
		return {
			write: () => this.#step('write', undefined),
			finish: () => this.#step('finish', { bytes: 1, digest: '' }),
			publish: (key) => this.#step('publish', key),
			place: (key) => ({ key, durable: this.#step('publish', undefined) }),
			abandon: () => this.#step('abandon', undefined),
		};
	}
	size = () => this.#step('size', 1);
	remove = () => this.#step('remove', true);
	move = () => this.#step('move', undefined);
	close = () => this.#step('close', undefined);
	removeTemporary = () => Promise.resolve(0);
	probe = () => Promise.resolve();
	expectAnswer(): void {}
	async *read(): AsyncIterable<Uint8Array> {
		yield await this.#step('read', Buffer.from('a'));
	}
	async *list(): AsyncIterable<ListedObject> {
		yield await this.#step('list', { key: 'a', bytes: 1, changedMs: 0 });
	}
}

function bounded() {
	const store = new HangingStore();
	const timedOut: StoreStep[] = [];
	const metrics = createMetrics({ processMetrics: false });
	const health = new StoreHealth({ probe: store.probe, probeMsMax: 1000, metrics, log: silentLog, timers: new ManualTimers() });
	const limit = new TimeLimit(20, (step) => timedOut.push(step));
	return { store, limit, timedOut, objects: new BoundedStore({ store, limit, health, isPublishingBounded: true }) };
}

async function collected<T>(pieces: AsyncIterable<T>): Promise<T[]> {
	const all: T[] = [];
	for await (const piece of pieces) all.push(piece);
	return all;
}

/** Every step of a store, and how a caller waits for it. */
const steps: Record<Exclude<StoreStep, 'close' | 'abandon' | 'write'>, (objects: ObjectStore) => Promise<unknown>> = {
	finish: (objects) => objects.begin(Buffer.alloc(0)).finish(),
	publish: (objects) => objects.begin(Buffer.alloc(0)).publish('key', about),
	size: (objects) => objects.size('key'),
	read: (objects) => collected(objects.read('key')),
	remove: (objects) => objects.remove('key'),
	move: (objects) => objects.move('from', 'to'),
	list: (objects) => collected(objects.list()),
};

describe('a store that hangs', () => {
	holdProcess();

	for (const [step, work] of Object.entries(steps) as [StoreStep, (objects: ObjectStore) => Promise<unknown>][]) {
		test(`in ${step}: the step is refused in time, everything else at once, and all goes on when the store does`, async () => {
			const { objects, store, limit, timedOut } = bounded();
			store.hangsIn = step;
			await assert.rejects(work(objects), refused);
			assert.deepEqual(timedOut, [step]);
			for (const other of Object.values(steps)) await assert.rejects(other(objects), refused);
			assert.throws(() => objects.expectAnswer(), refused);
			assert.deepEqual(timedOut, [step], 'nothing more was begun');
			store.letGo();
			await eventually(async () => !limit.isHanging, 'the end of the step');
			for (const other of Object.values(steps)) await other(objects);
			objects.expectAnswer();
		});
	}

	test('in a write: the sender goes on, is refused at the end, and nothing is left behind', async () => {
		const { objects, store, limit } = bounded();
		const writer = objects.begin(Buffer.alloc(0));
		store.hangsIn = 'write';
		await writer.write(Buffer.from('a'));
		assert.equal(writer.write(Buffer.from('b')), undefined);
		await assert.rejects(writer.finish(), refused);
		await writer.abandon();
		store.letGo();
		await eventually(async () => !limit.isHanging, 'the end of the write');
		assert.deepEqual(store.done, ['write', 'abandon']);
	});

	test('in finish or publish: what comes about too late is taken back', async () => {
		for (const [step, undone] of [
			['finish', 'abandon'],
			['publish', 'remove'],
		] as const) {
			const { objects, store, limit } = bounded();
			store.hangsIn = step;
			await assert.rejects(steps[step](objects), refused);
			store.letGo();
			await eventually(async () => !limit.isHanging, 'the end of the step');
			assert.deepEqual(store.done, [step, undone]);
		}
	});

	test('while an object is placed: it does not count as durable, and is taken back', async () => {
		const { objects, store, limit } = bounded();
		store.hangsIn = 'publish';
		const placed = objects.begin(Buffer.alloc(0)).place?.('key', about);
		assert.equal(placed?.key, 'key');
		await assert.rejects(placed?.durable ?? assert.fail(), refused);
		store.letGo();
		await eventually(async () => !limit.isHanging, 'the end of the step');
		assert.deepEqual(store.done, ['publish', 'remove']);
	});

	test('keeps nobody who abandons or closes', async () => {
		const { objects, store } = bounded();
		store.hangsIn = 'abandon';
		await objects.begin(Buffer.alloc(0)).abandon();
		store.letGo();
		store.hangsIn = 'close';
		await objects.close();
		store.letGo();
	});
});
