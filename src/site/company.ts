import type { Timers } from '#core/timers.ts';

/** Tells whether messages of several sites come to lanes that share the threads and processors of a process. */
export class Company {
	readonly #timers: Pick<Timers, 'elapsedMs'>;
	readonly #aloneMs: number;
	#lastSite: string | undefined;
	#untilMs = Number.NEGATIVE_INFINITY;

	/** @param aloneMs a site is alone when no other one has sent for so long */
	constructor(timers: Pick<Timers, 'elapsedMs'>, aloneMs: number) {
		this.#timers = timers;
		this.#aloneMs = aloneMs;
	}

	arrived(siteId: string): void {
		if (siteId === this.#lastSite) return;
		if (this.#lastSite !== undefined) this.#untilMs = this.#timers.elapsedMs() + this.#aloneMs;
		this.#lastSite = siteId;
	}

	isAlone(): boolean {
		return this.#timers.elapsedMs() >= this.#untilMs;
	}
}
