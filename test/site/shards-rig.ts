import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { silentLog } from '#core/log.ts';
import { Shards, type ShardsOptions } from '#site/shards.ts';
import { deliveriesOf, type IngestTask, type IngestTaskResult, resultOf } from '#site/task.ts';
import type { WorkerPool } from '#site/worker-pool.ts';
import { ManualTimers, promisesSettle } from '#test/support/manual-timers.ts';
import { defaultLimits, type Limits } from '../../src/limits.ts';
import { createMetrics, metricDefinitions } from '../../src/metrics.ts';
import { delivery, replyTo, Told } from './letters.ts';

export const stages = { interpretMs: 1, readMs: 2, applyMs: 3, writeMs: 4, commitMs: 0, repeats: 0, bisections: 0, beganMs: 0, endedMs: 0 };

/** A batch that a worker was given, and how it ends. */
export interface Given {
	/** `0/1`: the first worker's second lane. */
	place: string;
	messages: string;
	done(more?: Partial<typeof stages>): void;
	unavailable(): void;
	crash(): void;
}

export class Rig {
	readonly timers = new ManualTimers();
	readonly told = new Told();
	readonly metrics = createMetrics({ processMetrics: false });
	readonly given: Given[] = [];
	readonly shards: Shards;
	destroyed = 0;
	#pools = 0;

	constructor(t: TestContext, options: Partial<Omit<ShardsOptions, 'limits'>> & { limits?: Partial<Limits> } = {}) {
		this.shards = new Shards({
			worker: new URL('file:///worker.ts'),
			workers: 2,
			workerData: undefined,
			metrics: this.metrics,
			log: silentLog,
			nowMs: () => this.timers.elapsedMs(),
			timers: this.timers,
			openPool: () => this.#open(this.#pools++),
			...options,
			limits: { ...defaultLimits, batchWaitMsMax: 0, ...options.limits },
		});
		t.after(() => this.close());
	}

	async close(waitMs = 0): Promise<void> {
		const closing = this.shards.close(waitMs);
		await this.timers.advance(waitMs);
		await closing;
	}

	#open(pool: number): WorkerPool {
		return {
			threads: [],
			cpuMs: () => 0,
			run: (task) => new Promise((resolve, reject) => this.given.push(givenOf(pool, task, resolve, reject))),
			destroy: async () => {
				this.destroyed++;
			},
		};
	}

	send(messages: string): void {
		for (const message of messages.split(' ')) {
			const [name = '', bytes] = message.split(':');
			this.told.watch(name, this.shards.deliver(of(name, Number(bytes ?? 1))));
		}
	}

	async sent(messages: string): Promise<void> {
		this.send(messages);
		await this.timers.settle();
	}

	/** Ends the batch that was given last, and what follows at once. */
	async end(how: (given: Given) => void = (given) => given.done()): Promise<void> {
		how(this.given.at(-1) ?? assert.fail('no batch was given'));
		await promisesSettle();
		await this.timers.settle();
	}

	async counted(name: keyof typeof metricDefinitions, labels: Record<string, string> = {}): Promise<number> {
		const { values } = (await this.metrics.registry.getSingleMetric(metricDefinitions[name].name)?.get()) ?? { values: [] };
		return values.find((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value))?.value ?? 0;
	}
}

function givenOf(pool: number, task: IngestTask, resolve: (result: IngestTaskResult) => void, reject: (error: Error) => void): Given {
	const deliveries = deliveriesOf(task);
	return {
		place: `${pool}/${task.lane}`,
		messages: deliveries.map(({ id }) => id).join(' '),
		done: (more = {}) => resolve(resultOf(deliveries.map(replyTo), { ...stages, ...more })),
		unavailable: () => resolve({ kind: 'unavailable' }),
		crash: () => reject(new Error('the worker ended')),
	};
}

/** The id of a site ends in hexadecimal digits, by which it has its lane: `a1` is a message of the site in lane 10 of so many. */
export function of(name: string, bytes = 1) {
	return { ...delivery(name, bytes), siteId: siteOf(name) };
}

export const siteOf = (name: string) => `00000000-0000-0000-0000-00000000000${name.slice(0, 1)}`;
