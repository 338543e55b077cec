import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { silentLog } from '#core/log.ts';
import type { StoreStep } from '#storage/metrics.ts';
import { BoundedStore } from '#storage/objects/bounded-store.ts';
import type { ListedObject, ObjectStore, ObjectWriter } from '#storage/objects/object-store.ts';
import { Operations } from '#storage/objects/operations.ts';
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
	const operations = new Operations(metrics);
	const seen = async () => {
		const found = await metrics.registry.getSingleMetric('tributary_object_store_operation_seconds')?.get();
		const values = (found?.values ?? []) as { value: number; metricName?: string; labels: Record<string, string> }[];
		const counts = values.filter(({ metricName, value }) => metricName?.endsWith('_count') && value > 0);
		return counts.map(({ labels, value }) => `${labels['operation']} ${labels['outcome']} ${value}`).sort();
	};
	return { store, limit, timedOut, seen, objects: new BoundedStore({ store, limit, health, operations, isPublishingBounded: true }) };
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

describe('the durations of operations', () => {
	holdProcess();

	test('are counted by what was asked and how it ended', async () => {
		const { objects, store, seen } = bounded();
		for (const work of Object.values(steps)) await work(objects);
		const done = ['delete done 1', 'get done 1', 'head done 1', 'list done 1', 'move done 1', 'put done 1'];
		assert.deepEqual(await seen(), done);
		store.size = () => Promise.resolve(undefined as unknown as number);
		store.remove = () => Promise.resolve(false);
		store.move = () => Promise.reject(new Failure('not-found', 'the object is not in the store'));
		store.read = async function* () {
			yield await Promise.reject(new Failure('unavailable', 'the object store does not answer'));
		};
		await objects.size('key');
		await objects.remove('key');
		await assert.rejects(objects.move('from', 'to'));
		await assert.rejects(collected(objects.read('key')));
		assert.deepEqual(await seen(), [...done, 'delete missing 1', 'get failed 1', 'head missing 1', 'move missing 1'].sort());
	});

	test('have what was given up as failed, and nothing that was refused without being asked', async () => {
		const { objects, store, seen } = bounded();
		store.hangsIn = 'publish';
		await assert.rejects(objects.begin(Buffer.alloc(0)).publish('key', about), refused);
		await assert.rejects(objects.size('key'), refused);
		assert.deepEqual(await seen(), ['put failed 1']);
		store.letGo();
	});
});

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
