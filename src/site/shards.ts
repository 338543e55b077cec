import { Worker } from 'node:worker_threads';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { Rounds } from '#core/rounds.ts';
import { systemTimers, type Timers } from '#core/timers.ts';
import type { BatchStages } from '#record/batch-stages.ts';
import type { Delivery, Reply, ReplyTo } from '#record/delivery.ts';
import type { DeliveryLimits } from '#record/limits.ts';
import type { TracedBatch, Tracing } from '#record/tracing.ts';
import { Company } from './company.ts';
import type { BatchOutcome } from './flights.ts';
import type { SiteGateway } from './gateway.ts';
import { Lane } from './lane.ts';
import type { MailboxLimits } from './limits.ts';
import { type Letter, type Mailbox, type Parting, senderOf } from './mailbox.ts';
import { type MailboxHolder, reportStatusLabel, type SiteMetrics } from './metrics.ts';
import { type Assignment, SecondThread } from './second-thread.ts';
import { SiteLanes } from './site-lanes.ts';
import type { IngestTaskResult } from './task.ts';
import { Watchdog } from './watchdog.ts';
import { type OpenPool, openPiscina } from './worker-pool.ts';
import { ThreadEnded, WorkerThread } from './worker-thread.ts';

export interface ShardsOptions {
	/** The worker's entry file. */
	worker: URL;
	workers: number;
	/** Lets the second lane of a worker have a thread of its own once there is work for both. */
	mayHaveSecondThread?: boolean;
	/** The place of the process in its node; it tells its shards apart from those of the others. */
	place?: number;
	/** Carries out batches of a few instances in this thread, one at a time. Without it the workers do. */
	inPlace?: InPlace;
	/** Data for each worker; it must survive structured cloning. */
	workerData: unknown;
	limits: MailboxLimits & DeliveryLimits;
	/** Returns how many messages of a site may wait, below `mailboxMessagesMax`; undefined means the same number as for any site. */
	waitingMaxOf?: (siteId: string) => number | undefined;
	metrics: SiteMetrics;
	log: Log;
	nowMs(): number;
	/** Told of each message that was carried out, as its sender is answered. */
	onAnswered?: (delivery: Delivery, reply: Reply) => void;
	/** Absent while nothing is traced. */
	tracing?: Pick<Tracing, 'enqueued' | 'carriedOut'> | undefined;
	/** The system's unless they are given. */
	timers?: Timers;
	/** A Piscina of one thread unless it is given. */
	openPool?: OpenPool;
}

/** Does in this thread what a worker does. */
export interface InPlace {
	/** Returns undefined when the database does not take the batch. */
	process(deliveries: readonly Delivery[]): Promise<{ replies: (Reply | undefined)[]; stages: BatchStages } | undefined>;
	close(): Promise<void>;
}

type AssignmentOf = (deliveries: readonly Delivery[], isAhead: boolean) => Assignment;

/** Two lanes share a thread, or can: while one waits for its COMMIT, the other's messages are parsed and mapped. */
const lanesPerWorker = 2;
/** One worker for long messages serves so many workers that sites share. It begins with the first long message. */
const workersPerLong = 2;

/** Instances of one batch that do not go to a worker. */
const inPlaceMax = 8;

/** Sites are spread over lanes (`site-lanes`); each lane carries out one batch at a time on its own database connection. */
export class Shards implements SiteGateway {
	readonly #options: ShardsOptions;
	readonly #threads: WorkerThread[] = [];
	readonly #timers: Timers;
	readonly #company: Company;
	readonly #lanes: Lane[] = [];
	readonly #siteLanes = new SiteLanes(this.#lanes);
	/** Each processes one message at a time, for sites of other lanes. */
	readonly #longLanes: Lane[] = [];
	readonly #longLaneOf = new SiteLanes(this.#longLanes);
	readonly #watchdog: Watchdog;
	readonly #room = new Map<string, (() => void)[]>();
	readonly #sweep: Rounds;
	#closed = false;
	/** There is one connection to the database for batches in this thread. */
	#isBusyInPlace = false;

	constructor(options: ShardsOptions) {
		this.#options = options;
		this.#timers = options.timers ?? systemTimers;
		this.#company = new Company(this.#timers, options.limits.siteAloneMs);
		this.#watchdog = new Watchdog(options, this.#timers);
		for (let worker = 0; worker < options.workers; worker++) this.#addWorker();
		for (let worker = 0; worker < options.workers; worker += workersPerLong) this.#addLongWorker();
		this.#sweep = new Rounds(250, () => this.#expire(), this.#timers);
	}

	#open(lanes: number, begins: { isLazy: boolean; hasSpare: boolean }): WorkerThread {
		const { worker, workerData, openPool = (notes, batches) => openPiscina(worker, workerData, notes, batches) } = this.#options;
		const thread = new WorkerThread(openPool, lanes, begins);
		this.#threads.push(thread);
		return thread;
	}

	#addWorker(): void {
		const thread = this.#open(lanesPerWorker, { isLazy: false, hasSpare: true });
		this.#watchdog.watch(thread, this.#options.limits.sharedCpuMsMax);
		for (let lane = 0; lane < lanesPerWorker; lane++) {
			const second = this.#options.mayHaveSecondThread === true && lane > 0 ? this.#secondThread({ thread, lane }) : undefined;
			const assignmentOf: AssignmentOf = (deliveries, isAhead) =>
				second?.assignmentOf(isAhead, this.#isForWorkers(deliveries)) ?? { thread, lane };
			this.#lanes.push(this.#createLane(assignmentOf));
		}
	}

	#secondThread(shared: Assignment): SecondThread {
		const thread = this.#open(1, { isLazy: true, hasSpare: true });
		this.#watchdog.watch(thread, this.#options.limits.sharedCpuMsMax);
		return new SecondThread(shared, thread, (error) => {
			if (!this.#closed) this.#options.log.warn({ err: error }, 'the second ingest worker did not begin');
		});
	}

	#addLongWorker(): void {
		const { limits, nowMs } = this.#options;
		const thread = this.#open(1, { isLazy: true, hasSpare: false });
		this.#watchdog.watch(thread, limits.messageCpuMsMax);
		const lane = new Lane({
			limits: { ...limits, batchMessagesMax: 1 },
			nowMs,
			timers: this.#timers,
			company: this.#company,
			process: (deliveries, isAhead) => this.#process({ shard: 'long', thread, lane: 0 }, deliveries, isAhead),
			// While nothing can be stored here, the lanes of the sites cannot store either, and tell so.
			onAvailability: () => undefined,
			onRoom: () => undefined,
			onAnswered: this.#options.onAnswered,
		});
		this.#longLanes.push(lane);
	}

	/** Returns false where nothing waits or is under way. */
	#expire(): boolean {
		const lanes = this.#allLanes();
		for (const lane of lanes) lane.expire();
		return lanes.some((lane) => !lane.isIdle);
	}

	#allLanes(): Lane[] {
		return [...this.#lanes, ...this.#longLanes];
	}

	#createLane(assignmentOf: AssignmentOf): Lane {
		const { limits, log, metrics } = this.#options;
		const { shardAvailable } = metrics;
		const { place = 0, workers } = this.#options;
		const shard = String(place * workers * lanesPerWorker + this.#lanes.length);
		shardAvailable.set({ shard }, 1);
		return new Lane({
			limits,
			nowMs: this.#options.nowMs,
			timers: this.#timers,
			company: this.#company,
			process: (deliveries, isAhead) => this.#process({ shard, ...assignmentOf(deliveries, isAhead) }, deliveries, isAhead),
			onAvailability: (available) => {
				shardAvailable.set({ shard }, available ? 1 : 0);
				log[available ? 'info' : 'warn']({ shard }, available ? 'storing again' : 'cannot store; senders wait');
			},
			onRoom: (siteId) => this.#tellRoom(siteId),
			onAnswered: this.#options.onAnswered,
			apart: (letter) => this.#processApart(letter),
		});
	}

	async #processApart(letter: Letter): Promise<Parting> {
		const parting = await this.#longLaneOf.of(letter.delivery.siteId).takeOver(letter);
		delete letter.left;
		if (letter.delivery.withheld === 'time') this.#options.metrics.messageBudget.inc({ step: 'refused' });
		return parting;
	}

	async #process(assigned: Assignment & { shard: string }, deliveries: Delivery[], isAhead: boolean): Promise<BatchOutcome> {
		const { metrics } = this.#options;
		const started = this.#timers.elapsedMs();
		try {
			const result = await this.#carryOut(assigned, deliveries, isAhead);
			// A batch that the database did not take counts as neither.
			if (isAhead && (result.kind === 'behind' || result.kind === 'done')) metrics.batchesAhead.inc({ result: result.kind });
			if (result.kind === 'behind') return result;
			if (result.kind === 'unavailable') {
				this.#trace(deliveries, started, { error: 'unavailable' });
				return result;
			}
			if (result.kind === 'failed') throw result.error;
			this.#trace(deliveries, started, result);
			if (deliveries.length > 0) this.#observe(deliveries.length, this.#timers.elapsedMs() - started, result.stages);
			const { replies } = result;
			for (const reply of replies)
				for (const status of reply?.reports ?? []) metrics.reportVersions.inc({ status: reportStatusLabel(status) });
			return { kind: 'done', replies };
		} catch (error) {
			this.#trace(deliveries, started, { error: 'crashed' });
			return this.#crash(assigned.shard, error);
		}
	}

	#trace(deliveries: readonly Delivery[], startedMs: number, result: TracedBatch['result']): void {
		this.#options.tracing?.carriedOut({ deliveries, startedMs, endedMs: this.#timers.elapsedMs(), result });
	}

	/** While nothing can be stored, what is tried again says nothing about the work that there is. */
	#isForWorkers(deliveries: readonly Delivery[]): boolean {
		return this.available() && deliveries.length > 0 && (this.#options.inPlace === undefined || !isCarriedOutHere(deliveries));
	}

	async #carryOut({ thread, lane }: Assignment, deliveries: Delivery[], isAhead: boolean): Promise<IngestTaskResult> {
		const { inPlace } = this.#options;
		if (inPlace !== undefined && !isAhead && !this.#isBusyInPlace && isCarriedOutHere(deliveries)) {
			this.#isBusyInPlace = true;
			thread.passOver(lane);
			try {
				const result = await inPlace.process(deliveries);
				return result === undefined ? { kind: 'unavailable' } : { kind: 'done', ...result };
			} finally {
				this.#isBusyInPlace = false;
			}
		}
		this.#watchdog.wake();
		return thread.run(lane, deliveries, { isAhead, inSlices: !this.#company.isAlone() });
	}

	#crash(shard: string, error: unknown): BatchOutcome {
		if (this.#closed) return { kind: 'unavailable' };
		const { metrics, log } = this.#options;
		const ended = error instanceof ThreadEnded ? error : undefined;
		metrics.batchRetries.inc({ reason: 'worker' });
		if (ended?.reason !== 'time') {
			metrics.workerRestarts.inc();
			log.error({ err: error, shard }, 'an ingest worker ended in the middle of a batch; the batch is tried again');
		}
		return ended === undefined ? { kind: 'crashed' } : { kind: 'crashed', at: ended.at, reason: ended.reason, isUnsure: ended.isUnsure };
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

	deliver<Sent extends Delivery>(delivery: Sent): Promise<ReplyTo<Sent>> {
		const full = this.#fullBy(delivery.siteId, senderOf(delivery), delivery.bytes.length);
		if (this.#closed || full !== undefined) {
			this.#options.metrics.mailboxFull.inc({ holder: full ?? 'node' });
			return Promise.reject(new Failure('unavailable', 'too many messages of this site wait to be stored', { retryAfterSeconds: 1 }));
		}
		if (delivery.trace !== undefined) this.#options.tracing?.enqueued(delivery);
		this.#sweep.wake();
		// A lane carries deliveries of all kinds; each gets the answer of its kind.
		return this.#siteLanes.choose(delivery.siteId).deliver(delivery) as Promise<ReplyTo<Sent>>;
	}

	hasRoom(siteId: string, sender: string, bytes: number): boolean {
		return this.#fullBy(siteId, sender, bytes) === undefined;
	}

	/** Returns whose waiting messages leave no room for another one of this size. */
	#fullBy(siteId: string, sender: string, bytes: number): MailboxHolder | undefined {
		const { mailboxMessagesMax, mailboxBytesMax, mailboxClientMessagesMax, mailboxClientBytesMax, waitingBytesMax } = this.#options.limits;
		if (this.waiting().bytes >= waitingBytesMax) return 'node';
		const mailbox = this.#siteLanes.of(siteId).mailbox(siteId);
		if (mailbox === undefined || mailbox.length === 0) return undefined;
		const messagesMax = Math.min(mailboxMessagesMax, this.#options.waitingMaxOf?.(siteId) ?? mailboxMessagesMax);
		if (mailbox.length >= messagesMax || mailbox.bytes + bytes > mailboxBytesMax) return 'site';
		const own = mailbox.of(sender);
		if (own === undefined || own.messages === 0) return undefined;
		return own.messages >= mailboxClientMessagesMax || own.bytes + bytes > mailboxClientBytesMax ? 'client' : undefined;
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
		for (const lane of this.#allLanes()) {
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
		for (const lane of this.#allLanes()) {
			for (const { siteId, length } of lane.mailboxes()) if (length > 0) waiting.set(siteId, (waiting.get(siteId) ?? 0) + length);
		}
		return waiting;
	}

	/** Returns what waits of each sender. */
	waitingBySender(): { siteId: string; feed: string; waiting: number }[] {
		const waiting: { siteId: string; feed: string; waiting: number }[] = [];
		for (const lane of this.#lanes) {
			for (const mailbox of lane.mailboxes()) {
				if (mailbox.length === 0) continue;
				for (const { sender, messages } of mailbox.senders()) waiting.push({ siteId: mailbox.siteId, feed: sender, waiting: messages });
			}
		}
		return waiting;
	}

	/** Returns the threads, for tests that end one. */
	threads(): Worker[] {
		return this.#threads.flatMap(({ threads }) => threads).filter((thread) => thread instanceof Worker);
	}

	/** Resolves when all accepted messages are answered, or after `waitMs`; then it ends the workers. */
	async close(waitMs: number): Promise<void> {
		const deadline = new Promise<void>((resolve) => this.#timers.after(waitMs, resolve, false));
		await Promise.race([Promise.all(this.#allLanes().map((lane) => lane.idle())), deadline]);
		this.#closed = true;
		for (const lane of this.#allLanes()) lane.close();
		this.#sweep.stop();
		this.#watchdog.stop();
		await Promise.all([...this.#threads.map((thread) => thread.close()), this.#options.inPlace?.close()]);
	}
}

/**
 * A batch of a few instances is carried out here: there is next to nothing to interpret, so the way to a worker and back would cost as much as
 * the work. With more at once the workers relieve this thread.
 */
function isCarriedOutHere(deliveries: readonly Delivery[]): boolean {
	const { length } = deliveries;
	return length > 0 && length <= inPlaceMax && deliveries.every(({ kind, withheld }) => kind === 'instance' && !withheld);
}
