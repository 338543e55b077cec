import type { Log } from '#core/log.ts';
import { Rounds } from '#core/rounds.ts';
import type { Timers } from '#core/timers.ts';
import { idsOf } from '#record/delivery.ts';
import type { SiteMetrics } from './metrics.ts';
import type { Work, WorkerThread } from './worker-thread.ts';

interface Watched {
	thread: WorkerThread;
	/** Processor time for one message in this thread. */
	cpuMsMax: number;
	/** The work that was last seen, and the processor time at that moment. */
	key: string | undefined;
	fromMs: number;
	hasWarned: boolean;
}

/** A warning comes at this part of the budget. */
const warnedPart = 0.5;
/** Half of the smallest budget of processor time. */
const watchMs = 50;

/**
 * Holds each message to its budget of processor time. The time is counted from the first look that finds the message at work: so it has a
 * little more than its budget, never less. Time in which the machine does something else does not count.
 */
export class Watchdog {
	readonly #watched: Watched[] = [];
	readonly #metrics: SiteMetrics;
	readonly #log: Log;
	readonly #rounds: Rounds;

	constructor({ metrics, log }: { metrics: SiteMetrics; log: Log }, timers: Timers) {
		this.#metrics = metrics;
		this.#log = log;
		this.#rounds = new Rounds(watchMs, () => this.#look(), timers);
	}

	watch(thread: WorkerThread, cpuMsMax: number): void {
		this.#watched.push({ thread, cpuMsMax, key: undefined, fromMs: 0, hasWarned: false });
	}

	/** Has to be called when a thread is given work. */
	wake(): void {
		this.#rounds.wake();
	}

	stop(): void {
		this.#rounds.stop();
	}

	#look(): boolean {
		for (const watched of this.#watched) this.#lookAt(watched);
		return this.#watched.some(({ thread }) => thread.isBusy);
	}

	#lookAt(watched: Watched): void {
		const { work } = watched.thread;
		if (work === undefined || work.key !== watched.key) {
			if (watched.hasWarned) void watched.thread.relax();
			watched.key = work?.key;
			watched.fromMs = work?.cpuMs ?? 0;
			watched.hasWarned = false;
			return;
		}
		const spentMs = work.cpuMs - watched.fromMs;
		if (spentMs >= watched.cpuMsMax) {
			this.#end(watched, work, spentMs);
		} else if (spentMs >= watched.cpuMsMax * warnedPart && !watched.hasWarned) {
			watched.hasWarned = true;
			this.#metrics.messageBudget.inc({ step: 'warned' });
			this.#log.warn({ ...about(work), cpuMs: spentMs }, 'a message takes long in a worker');
			watched.thread.prepare();
		}
	}

	#end(watched: Watched, work: Work, spentMs: number): void {
		watched.key = undefined;
		watched.hasWarned = false;
		this.#metrics.messageBudget.inc({ step: 'ended' });
		this.#log.error({ ...about(work), cpuMs: spentMs }, 'a worker was ended, because a message took too much processor time');
		watched.thread.end(work);
	}
}

function about({ index, deliveries }: Work): object {
	const delivery = index === undefined ? undefined : deliveries[index];
	if (delivery === undefined) return { messages: deliveries.length };
	const { kind, bytes } = delivery;
	return { ...idsOf(delivery), kind, bytes: bytes.length };
}
