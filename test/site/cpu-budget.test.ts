import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Log } from '#core/log.ts';
import { silentLog } from '#core/log.ts';
import type { Delivery, FhirDelivery } from '#record/delivery.ts';
import { Shards } from '#site/shards.ts';
import { openPiscina, type WorkerPool } from '#site/worker-pool.ts';
import { defaultLimits, type Limits } from '../../src/limits.ts';
import { createMetrics, metricDefinitions } from '../../src/metrics.ts';
import { delivery, Told } from './letters.ts';

/** The id of a site ends in hexadecimal digits, by which it has its lane: `a` and `c` share one of two lanes, `b` has the other. */
const siteOf = (name: string) => `00000000-0000-0000-0000-00000000000${name.slice(0, 1)}`;

const worker = new URL('./spinning-worker.ts', import.meta.url);

class Rig {
	readonly metrics = createMetrics({ processMetrics: false });
	readonly told = new Told();
	readonly logged: string[] = [];
	/** How many batches each thread was given, in the order in which they began. */
	readonly batches: number[] = [];
	readonly shards: Shards;

	constructor(t: TestContext, limits: Partial<Limits> = {}, mayHaveSecondThread = false) {
		const note = (_about: object, text?: string) => this.logged.push(text ?? '');
		this.shards = new Shards({
			worker,
			workers: 1,
			mayHaveSecondThread,
			openPool: (notes, batches) => this.#counted(openPiscina(worker, undefined, notes, batches)),
			workerData: undefined,
			metrics: this.metrics,
			log: { ...silentLog, warn: note, error: note } as Log,
			nowMs: () => Date.now(),
			limits: { ...defaultLimits, sharedCpuMsMax: 150, messageCpuMsMax: 300, ...limits },
		});
		t.after(() => this.shards.close(0));
	}

	#counted(pool: WorkerPool): WorkerPool {
		const place = this.batches.push(0) - 1;
		const run = pool.run.bind(pool);
		pool.run = (...given) => {
			this.batches[place] = (this.batches[place] ?? 0) + 1;
			return run(...given);
		};
		return pool;
	}

	/** A message that says how long it keeps the worker busy. */
	send(name: string, text: string, bytes = text.length): Promise<unknown> {
		return this.#watched(name, { ...delivery(name), siteId: siteOf(name), bytes: Buffer.from(text.padEnd(bytes)) });
	}

	sendFhir(name: string, text: string): Promise<unknown> {
		const fhir: FhirDelivery = { ...delivery(name), kind: 'fhir', surface: 'fhir', siteId: siteOf(name), bytes: Buffer.from(text) };
		return this.#watched(name, fhir);
	}

	#watched(name: string, sent: Delivery): Promise<unknown> {
		const reply = this.shards.deliver(sent);
		this.told.watch(name, reply);
		return reply.then(
			() => undefined,
			() => undefined,
		);
	}

	async counted(step: string): Promise<number> {
		const { values } = (await this.metrics.registry.getSingleMetric(metricDefinitions.messageBudget.name)?.get()) ?? { values: [] };
		return values.find(({ labels }) => labels['step'] === step)?.value ?? 0;
	}
}

describe('the budget of processor time of a message', () => {
	test('spent in a shared worker: the message is tried again apart and answered; its site keeps its order, others go on', async (t) => {
		const rig = new Rig(t, { messageCpuMsMax: 60_000 });
		const sent = [rig.send('a1', '0'), rig.send('a2', '700'), rig.send('a3', '0'), rig.send('c1', '0'), rig.send('b1', '0')];
		await Promise.all(sent);
		const told = rig.told.take();
		assert.deepEqual([...told].sort(), ['a1 accepted', 'a2 accepted', 'a3 accepted', 'b1 accepted', 'c1 accepted']);
		assert.deepEqual(
			told.filter((one) => one.startsWith('a')),
			['a1 accepted', 'a2 accepted', 'a3 accepted'],
		);
		assert.ok(told.indexOf('c1 accepted') < told.indexOf('a2 accepted'), 'the other site of the lane does not wait for it');
		assert.deepEqual([await rig.counted('warned'), await rig.counted('ended'), await rig.counted('refused')], [1, 1, 0]);
		assert.equal(rig.shards.available(), true);
	});

	test('spent in the second thread: the spare of that thread takes over, and the other sites of its lane go on', async (t) => {
		const rig = new Rig(t, { messageCpuMsMax: 60_000 }, true);
		const meet = () => Promise.all([rig.send('a', '5'), rig.send('b', '0')]);
		// The first batch of the second thread is the empty one that begins it.
		while ((rig.batches[1] ?? 0) < 2) await meet();
		const [shared, second] = rig.shards.threads();
		rig.told.take();
		await Promise.all([rig.send('b1', '0'), rig.send('b2', '700'), rig.send('b3', '0'), rig.send('d1', '0'), rig.send('a1', '0')]);
		const told = rig.told.take();
		assert.deepEqual(
			told.filter((one) => one.startsWith('b')),
			['b1 accepted', 'b2 accepted', 'b3 accepted'],
		);
		assert.ok(told.indexOf('d1 accepted') < told.indexOf('b2 accepted'), 'the other site of the lane does not wait for it');
		assert.deepEqual([await rig.counted('warned'), await rig.counted('ended'), await rig.counted('refused')], [1, 1, 0]);
		assert.ok(shared !== undefined && rig.shards.threads().includes(shared), 'the shared thread was not touched');
		assert.ok(second !== undefined && !rig.shards.threads().includes(second), 'the second one was ended');
	});

	test('spent twice apart: it is withheld and refused; what waits behind it and all others are accepted, and a warning came first', async (t) => {
		const rig = new Rig(t);
		const stuck = rig.send('a1', 'ever');
		const behind = rig.send('a2', '0');
		const others: Promise<unknown>[] = [];
		let isOver = false;
		void stuck.then(() => {
			isOver = true;
		});
		while (!isOver) {
			others.push(rig.send(`c${others.length}`, '0'), rig.send(`b${others.length}`, '0'));
			await Promise.all(others.slice(-2));
			assert.equal(rig.shards.available(), true);
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
		await behind;
		const told = rig.told.take();
		assert.deepEqual(
			told.filter((one) => one.startsWith('a')),
			['a1 refused', 'a2 accepted'],
		);
		assert.ok(told.length > 10 && told.slice(0, -2).every((one) => /^[bc]\d+ accepted$|^a/.test(one)), told.join());
		assert.deepEqual([await rig.counted('ended'), await rig.counted('refused')], [3, 1]);
		assert.ok(
			rig.logged.indexOf('a message takes long in a worker') <
				rig.logged.indexOf('a worker was ended, because a message took too much processor time'),
		);
		const { values } = (await rig.metrics.registry.getSingleMetric(metricDefinitions.workerRestarts.name)?.get()) ?? { values: [] };
		assert.equal(values[0]?.value ?? 0, 0, 'no worker ended unexpectedly');
	});

	test('a message that is large is processed apart from the beginning', async (t) => {
		const rig = new Rig(t, { longMessageBytes: 1000, messageCpuMsMax: 60_000, sharedCpuMsMax: 100 });
		await rig.send('c0', '0');
		await Promise.all([rig.send('a1', '500', 1000), rig.send('a2', '0'), rig.send('c1', '0')]);
		assert.deepEqual(rig.told.take(), ['c0 accepted', 'c1 accepted', 'a1 accepted', 'a2 accepted']);
		assert.equal(await rig.counted('ended'), 0);
		await rig.shards.close(1000);
	});

	test('a message at which the thread ends goes apart too; its neighbours in other lanes are not suspected', async (t) => {
		const rig = new Rig(t);
		await Promise.all([rig.send('a1', 'exit'), rig.send('b1', '0'), rig.send('c1', '0'), rig.send('a2', '0')]);
		assert.deepEqual(rig.told.take().sort(), ['a1 refused', 'a2 accepted', 'b1 accepted', 'c1 accepted']);
	});

	test('what may be stored already and would not be recognised is not tried again, so nothing is doubled', async (t) => {
		const rig = new Rig(t);
		const lost = rig.sendFhir('b1', 'commit');
		const again = rig.send('b2', '0');
		await new Promise((resolve) => setTimeout(resolve, 20));
		await Promise.all([rig.send('a1', '500'), lost, again]);
		assert.deepEqual(rig.told.take().sort(), ['a1 refused', 'b1 unavailable', 'b2 accepted']);
	});
});
