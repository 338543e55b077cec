import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { Placements, placementsMemory } from '#storage/objects/placements.ts';
import { holdProcess } from '#test/support/held-process.ts';

interface Write {
	durable: Promise<void>;
	resolve(): void;
	reject(error: Error): void;
}

function write(): Write {
	const { promise, resolve, reject } = Promise.withResolvers<void>();
	promise.catch(() => undefined);
	return { durable: promise, resolve, reject };
}

/** Two threads' views of the same memory. */
function views() {
	const memory = placementsMemory();
	return { memory, writing: new Placements(memory), asking: new Placements(memory) };
}

const begun = (writing: Placements, { durable }: Write, startedMs = performance.now()) =>
	writing.begin(durable, startedMs) ?? assert.fail('the disk is fast');

describe('an object that is being written', () => {
	holdProcess();

	test('is durable when its writing has ended well, and not before', async () => {
		const { writing, asking } = views();
		const [early, late] = [write(), write()];
		const [first, second] = [begun(writing, early), begun(writing, late)];
		early.resolve();
		await early.durable;
		assert.equal(await asking.isDurable(first), true);
		let known: boolean | undefined;
		const asked = asking.isDurable(second).then((isDurable) => {
			known = isDurable;
		});
		await new Promise((resolve) => setImmediate(resolve));
		assert.equal(known, undefined);
		late.resolve();
		await asked;
		assert.equal(known, true);
	});

	test('is not durable when its writing failed', async () => {
		const { writing, asking } = views();
		const one = write();
		const placing = begun(writing, one);
		const asked = asking.isDurable(placing);
		one.reject(new Error('the disk is full'));
		assert.equal(await asked, false);
		assert.equal(await asking.isDurable(placing), false);
	});

	test('counts as not durable when it takes too long; then none is waited for until the disk is fast again', async () => {
		const { writing, asking } = views();
		const slow = write();
		const placing = begun(writing, slow);
		assert.equal(await asking.isDurable(placing), false);
		assert.equal(writing.begin(write().durable, performance.now()), undefined, 'the slow one is still under way');
		slow.resolve();
		await slow.durable;
		const next = write();
		assert.equal(writing.begin(next.durable, performance.now()), undefined, 'the last one was slow');
		next.resolve();
		await next.durable;
		assert.notEqual(writing.begin(write().durable, performance.now()), undefined);
	});

	test('is not taken for the next one in its slot', async () => {
		const { writing, asking } = views();
		const [one, other] = [write(), write()];
		const first = begun(writing, one);
		one.reject(new Error('the disk is full'));
		await one.durable.catch(() => undefined);
		writing.end(first);
		const second = begun(writing, other);
		assert.equal(second.slot, first.slot);
		other.resolve();
		await other.durable;
		assert.deepEqual([await asking.isDurable(first), await asking.isDurable(second)], [false, true]);
	});

	test('has no slot when all are taken', () => {
		const { writing } = views();
		const now = performance.now();
		const taken = Array.from({ length: 1024 }, () => begun(writing, write(), now));
		assert.equal(new Set(taken.map(({ slot }) => slot)).size, 1024);
		assert.equal(writing.begin(write().durable, now), undefined);
		writing.end(taken[7] ?? assert.fail());
		assert.equal(begun(writing, write(), now).slot, taken[7]?.slot);
	});

	test('wakes another thread that waits for it', async () => {
		const { memory, writing } = views();
		const one = write();
		const placing = begun(writing, one);
		const module = import.meta.resolve('#storage/objects/placements.ts');
		const code = `
			const { parentPort, workerData } = require('node:worker_threads');
			parentPort.ref();
			import(workerData.module).then(async ({ Placements }) => {
				parentPort.postMessage('asks');
				parentPort.postMessage(await new Placements(workerData.memory).isDurable(workerData.placing));
				parentPort.unref();
			});`;
		const worker = new Worker(code, { eval: true, workerData: { memory, placing, module } });
		const told: unknown[] = [];
		await new Promise((resolve, reject) => {
			worker.on('message', (message) => {
				told.push(message);
				if (message === 'asks') one.resolve();
			});
			worker.once('error', reject);
			worker.once('exit', resolve);
		});
		assert.deepEqual(told, ['asks', true]);
	});
});
