import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { type Stoppable, systemTimers, type Timers } from '#core/timers.ts';
import type { StorageMetrics } from '../metrics.ts';

export interface StoreHealthOptions {
	/** A small write, or where writing costs money a small question. */
	probe(signal: AbortSignal): Promise<void>;
	/** OBJECT_PROBE_MS_MAX: a probe that takes longer says that the store hangs. */
	probeMsMax: number;
	metrics: Pick<StorageMetrics, 'objectStoreUp'>;
	log: Log;
	timers?: Timers;
}

/** The time between two probes; with the usual OBJECT_PROBE_MS_MAX, trouble is known within two seconds. */
const probeMs = 500;
const lookMs = 100;

/** Knows whether the object store is well, from a probe every half second. There is never more than one probe. */
export class StoreHealth {
	readonly #options: StoreHealthOptions;
	readonly #rounds: Stoppable;
	/** Gives up the probe that is under way. */
	#giveUp: AbortController | undefined;
	/** The time that the probe under way has taken. Only time counts in which this process had its turns. */
	#waitedMs = 0;
	#trouble: string | undefined;
	#isHanging = false;

	constructor(options: StoreHealthOptions) {
		this.#options = options;
		this.#rounds = (options.timers ?? systemTimers).every(lookMs, () => this.#look());
		options.metrics.objectStoreUp.set(1);
	}

	/** Says what is wrong; undefined while the store is well. */
	get trouble(): string | undefined {
		return this.#trouble;
	}

	/** True while the store does not answer at all. */
	get isHanging(): boolean {
		return this.#isHanging;
	}

	#look(): void {
		this.#waitedMs += lookMs;
		if (this.#giveUp === undefined) {
			if (this.#waitedMs >= probeMs) this.#probe();
		} else if (this.#waitedMs >= this.#options.probeMsMax) {
			this.#isHanging = true;
			this.#say('the object store does not answer');
			this.#giveUp.abort();
		}
	}

	#probe(): void {
		const giveUp = new AbortController();
		this.#giveUp = giveUp;
		this.#waitedMs = 0;
		const ended = (trouble?: string) => {
			this.#giveUp = undefined;
			this.#waitedMs = 0;
			// A probe that was given up says no more than that the store hangs.
			if (trouble !== undefined && giveUp.signal.aborted) return;
			this.#isHanging = false;
			this.#say(trouble);
		};
		this.#options.probe(giveUp.signal).then(
			() => ended(),
			(error: unknown) => ended(error instanceof Failure ? error.diagnostics : 'the object store cannot be written'),
		);
	}

	#say(trouble: string | undefined): void {
		const { log, metrics } = this.#options;
		if (trouble !== this.#trouble) {
			if (trouble === undefined) log.info('the object store is well again');
			else log.warn({ reason: trouble }, 'the object store is not well');
		}
		this.#trouble = trouble;
		metrics.objectStoreUp.set(trouble === undefined ? 1 : 0);
	}

	close(): void {
		this.#rounds.stop();
	}
}
