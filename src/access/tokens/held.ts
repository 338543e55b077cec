import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';

export interface HeldOptions<Value> {
	/** Words for the log: `keys of https://…`. */
	what: string;
	fetch(): Promise<Value>;
	/** It is fetched again when it is older than this. */
	freshMs: number;
	/** It is not used any more when it is older than this, even if nothing else can be had. */
	staleMs: number;
	log: Log;
	clock: Clock;
}

/** After an attempt that failed, the next one is not made for this long. */
const retryMs = 5000;

/**
 * Something that a provider publishes and that changes seldom. One request at a time fetches it. While the provider is away, what is held
 * stays in use without anybody waiting for it.
 */
export class Held<Value> {
	readonly #options: HeldOptions<Value>;
	#value: Value | undefined;
	#fetchedAtMs = Number.NEGATIVE_INFINITY;
	#failedAtMs = Number.NEGATIVE_INFINITY;
	#isFailing = false;
	#fetching: Promise<void> | undefined;

	constructor(options: HeldOptions<Value>) {
		this.#options = options;
	}

	/** True when the last attempt to fetch it failed. */
	get isFailing(): boolean {
		return this.#isFailing;
	}

	/**
	 * Returns what is held; undefined when nothing usable is. Never rejects. Who is not patient does not wait for a provider that failed the
	 * last time.
	 */
	async current(isPatient = true): Promise<Value | undefined> {
		if (this.#ageMs() >= this.#options.freshMs) {
			const fetching = this.#fetch();
			if (!this.#isFailing || (isPatient && this.#usable() === undefined)) await fetching;
		}
		return this.#usable();
	}

	/** Fetches it now, because what is held lacks something, and returns what is held then. Never rejects. */
	async renewed(): Promise<Value | undefined> {
		await this.#fetch();
		return this.#usable();
	}

	#ageMs(): number {
		return this.#options.clock.nowMs() - this.#fetchedAtMs;
	}

	#usable(): Value | undefined {
		return this.#ageMs() < this.#options.staleMs ? this.#value : undefined;
	}

	#fetch(): Promise<void> {
		if (this.#options.clock.nowMs() - this.#failedAtMs < retryMs) return this.#fetching ?? Promise.resolve();
		this.#fetching ??= this.#attempt().finally(() => {
			this.#fetching = undefined;
		});
		return this.#fetching;
	}

	async #attempt(): Promise<void> {
		const { fetch, what, log, clock } = this.#options;
		try {
			this.#value = await fetch();
			this.#fetchedAtMs = clock.nowMs();
			this.#failedAtMs = Number.NEGATIVE_INFINITY;
			if (this.#isFailing) log.info(`the ${what} could be fetched again`);
			this.#isFailing = false;
		} catch (error) {
			if (!this.#isFailing) log.warn({ err: error }, `the ${what} could not be fetched`);
			this.#failedAtMs = clock.nowMs();
			this.#isFailing = true;
		}
	}
}
