import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { Silence } from '#core/silence.ts';
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

/** Knows whether the object store is well, from a probe every half second. There is never more than one probe. */
export class StoreHealth {
	readonly #options: StoreHealthOptions;
	readonly #timers: Timers;
	/** The pause before the next probe. */
	#pause: Stoppable;
	#underWay: Silence | undefined;
	#trouble: string | undefined;
	#isHanging = false;
	#isClosed = false;

	constructor(options: StoreHealthOptions) {
		this.#options = options;
		this.#timers = options.timers ?? systemTimers;
		this.#pause = this.#afterPause();
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

	#afterPause(): Stoppable {
		return this.#timers.about(probeMs, () => this.#probe());
	}

	#probe(): void {
		const giveUp = new AbortController();
		const silence = new Silence(() => {
			if (silence.ms < this.#options.probeMsMax || giveUp.signal.aborted) return;
			this.#isHanging = true;
			this.#say('the object store does not answer');
			giveUp.abort();
		}, this.#timers);
		this.#underWay = silence;
		silence.begin();
		const ended = (trouble?: string) => {
			silence.end();
			if (!this.#isClosed) this.#pause = this.#afterPause();
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
		this.#isClosed = true;
		this.#pause.stop();
		this.#underWay?.end();
	}
}
