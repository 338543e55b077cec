import { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { type Stoppable, systemTimers, type Timers } from '#core/timers.ts';
import type { BatchStages } from '#record/batch-stages.ts';
import type { Delivery, ReplyTo } from '#record/delivery.ts';
import type { DeliveryLimits } from '#record/limits.ts';
import type { SiteGateway } from './gateway.ts';
import { type BatchOutcome, Lane } from './lane.ts';
import type { MailboxLimits } from './limits.ts';
import type { Mailbox } from './mailbox.ts';
import { reportStatusLabel, type SiteMetrics } from './metrics.ts';
import { type IngestTask, type IngestTaskResult, taskOf } from './task.ts';

export interface ShardsOptions {
	/** The worker's entry file. */
	worker: URL;
	workers: number;
	/** The place of the process in its node; it tells its shards apart from those of the others. */
	place?: number;
	/** Data for each worker; it must survive structured cloning. */
	workerData: unknown;
	limits: MailboxLimits & DeliveryLimits;
	/** Returns how many messages of a site may wait, below `mailboxMessagesMax`; undefined means the same number as for any site. */
	waitingMaxOf?: (siteId: string) => number | undefined;
	metrics: SiteMetrics;
	log: Log;
	nowMs(): number;
	/** The system's unless they are given. */
	timers?: Timers;
	/** Opens one thread; by default a Piscina of one thread. */
	openPool?: (options: ShardsOptions) => WorkerPool;
}

/** One worker thread, which processes several batches at a time. */
export interface WorkerPool {
	readonly threads: readonly unknown[];
	run(task: IngestTask, options: { transferList: ArrayBuffer[] }): Promise<IngestTaskResult>;
	destroy(): Promise<void>;
}

/** Two lanes share a thread: while one waits for its COMMIT, the other's messages are parsed and mapped. */
const lanesPerWorker = 2;

/** Sites are spread over lanes by hash; each lane has one batch in flight on its own database connection. */
export class Shards implements SiteGateway {
	readonly #options: ShardsOptions;
	readonly #pools: WorkerPool[];
	readonly #timers: Timers;
	readonly #lanes: Lane[] = [];
	readonly #room = new Map<string, (() => void)[]>();
	readonly #sweep: Stoppable;
	#closed = false;

	constructor(options: ShardsOptions) {
		this.#options = options;
		this.#timers = options.timers ?? systemTimers;
		const openPool = options.openPool ?? openPiscina;
		this.#pools = Array.from({ length: options.workers }, () => openPool(options));
		for (const pool of this.#pools) {
			for (let lane = 0; lane < lanesPerWorker; lane++) this.#lanes.push(this.#createLane(pool, lane));
		}
		this.#sweep = this.#timers.every(250, () => this.#expire());
	}

	#expire(): void {
		for (const lane of this.#lanes) lane.expire();
	}

	#createLane(pool: WorkerPool, lane: number): Lane {
		const { limits, log, metrics } = this.#options;
		const { shardAvailable } = metrics;
		const { place = 0, workers } = this.#options;
		const shard = String(place * workers * lanesPerWorker + this.#lanes.length);
		shardAvailable.set({ shard }, 1);
		return new Lane({
			limits,
			nowMs: this.#options.nowMs,
			timers: this.#timers,
			process: (deliveries) => this.#process(pool, lane, deliveries),
			onAvailability: (available) => {
				shardAvailable.set({ shard }, available ? 1 : 0);
				log[available ? 'info' : 'warn']({ shard }, available ? 'storing again' : 'cannot store; senders wait');
			},
			onRoom: (siteId) => this.#tellRoom(siteId),
		});
	}

	async #process(pool: WorkerPool, lane: number, deliveries: Delivery[]): Promise<BatchOutcome> {
		const { metrics } = this.#options;
		try {
			const [task, transferList] = taskOf(lane, deliveries);
			const started = this.#timers.elapsedMs();
			const result = await pool.run(task, { transferList });
			if (result.kind === 'unavailable') return result;
			if (deliveries.length > 0) this.#observe(deliveries.length, this.#timers.elapsedMs() - started, result.stages);
			const { replies } = result;
			for (const reply of replies)
				for (const status of reply?.reports ?? []) metrics.reportVersions.inc({ status: reportStatusLabel(status) });
			return { kind: 'done', replies };
		} catch (error) {
			if (this.#closed) return { kind: 'unavailable' };
			metrics.workerRestarts.inc();
			metrics.batchRetries.inc({ reason: 'worker' });
			this.#options.log.error({ err: error, lane }, 'an ingest worker ended in the middle of a batch; the batch is tried again');
			return { kind: 'crashed' };
		}
	}

	#observe(messages: number, totalMs: number, stages: BatchStages): void {
		const { batchMessages, batchSeconds, batchRetries, batchBisections } = this.#options.metrics;
		batchMessages.observe(messages);
		batchSeconds.observe({ stage: 'interpret' }, stages.interpretMs / 1000);
		batchSeconds.observe({ stage: 'read' }, stages.readMs / 1000);
		batchSeconds.observe({ stage: 'apply' }, stages.applyMs / 1000);
		batchSeconds.observe({ stage: 'write' }, stages.writeMs / 1000);
		batchSeconds.observe({ stage: 'total' }, totalMs / 1000);
		if (stages.repeats > 0) batchRetries.inc({ reason: 'database' }, stages.repeats);
		if (stages.bisections > 0) batchBisections.inc(stages.bisections);
	}

	#laneOf(siteId: string): Lane {
		const lane = this.#lanes[Number.parseInt(siteId.slice(-8), 16) % this.#lanes.length];
		if (lane === undefined) throw new Error('there are no lanes');
		return lane;
	}

	deliver<Sent extends Delivery>(delivery: Sent): Promise<ReplyTo<Sent>> {
		if (this.#closed || !this.hasRoom(delivery.siteId, delivery.bytes.length)) {
			this.#options.metrics.mailboxFull.inc();
			return Promise.reject(new Failure('unavailable', 'too many messages of this site wait to be stored', { retryAfterSeconds: 1 }));
		}
		// A lane carries deliveries of all kinds; each gets the answer of its kind.
		return this.#laneOf(delivery.siteId).deliver(delivery) as Promise<ReplyTo<Sent>>;
	}

	hasRoom(siteId: string, bytes: number): boolean {
		const { mailboxMessagesMax, mailboxBytesMax, waitingBytesMax } = this.#options.limits;
		const mailbox = this.#laneOf(siteId).mailbox(siteId);
		if (mailbox === undefined || mailbox.length === 0) return this.waiting().bytes < waitingBytesMax;
		const messagesMax = Math.min(mailboxMessagesMax, this.#options.waitingMaxOf?.(siteId) ?? mailboxMessagesMax);
		return mailbox.length < messagesMax && mailbox.bytes + bytes <= mailboxBytesMax && this.waiting().bytes < waitingBytesMax;
	}

	whenRoom(siteId: string): Promise<void> {
		return new Promise((resolve) => {
			const timer = this.#timers.after(250, resolve, true);
			const told = () => {
				timer.stop();
				resolve();
			};
			const waiters = this.#room.get(siteId);
			if (waiters) waiters.push(told);
			else this.#room.set(siteId, [told]);
		});
	}

	#tellRoom(siteId: string): void {
		const waiters = this.#room.get(siteId);
		if (waiters === undefined) return;
		this.#room.delete(siteId);
		for (const told of waiters) told();
	}

	available(): boolean {
		return !this.#closed && this.#lanes.every((lane) => lane.available);
	}

	/** Returns what waits over all sites, and the deepest mailbox, for metrics and limits. */
	waiting(): { messages: number; bytes: number; deepest: number } {
		let messages = 0;
		let bytes = 0;
		let deepest = 0;
		for (const lane of this.#lanes) {
			for (const mailbox of lane.mailboxes() as Iterable<Mailbox>) {
				messages += mailbox.length;
				bytes += mailbox.bytes;
				deepest = Math.max(deepest, mailbox.length);
			}
		}
		return { messages, bytes, deepest };
	}

	/** Returns the number of waiting messages by site id. Sites without any are left out. */
	waitingBySite(): Map<string, number> {
		const waiting = new Map<string, number>();
		for (const lane of this.#lanes) for (const { siteId, length } of lane.mailboxes()) if (length > 0) waiting.set(siteId, length);
		return waiting;
	}

	/** Returns the threads, for tests that end one. */
	threads(): Worker[] {
		return this.#pools.flatMap((pool) => pool.threads).filter((thread) => thread instanceof Worker);
	}

	/** Resolves when all accepted messages are answered, or after `waitMs`; then it ends the workers. */
	async close(waitMs: number): Promise<void> {
		const deadline = new Promise<void>((resolve) => this.#timers.after(waitMs, resolve, false));
		await Promise.race([Promise.all(this.#lanes.map((lane) => lane.idle())), deadline]);
		this.#closed = true;
		for (const lane of this.#lanes) lane.close();
		this.#sweep.stop();
		await Promise.all(this.#pools.map((pool) => pool.destroy()));
	}
}

function openPiscina({ worker, workerData }: ShardsOptions): WorkerPool {
	return new Piscina({
		filename: worker.href,
		workerData,
		minThreads: 1,
		maxThreads: 1,
		idleTimeout: Number.POSITIVE_INFINITY,
		concurrentTasksPerWorker: lanesPerWorker,
		// With Atomics.wait the database sockets of an idle worker freeze.
		atomics: 'disabled',
		// A batch's garbage is collected early in a nursery of this size. With the default of 16 MiB the collector takes a sixth of the time.
		resourceLimits: { maxYoungGenerationSizeMb: 128 },
	});
}
