/** Tells whether messages of several sites come to lanes that share the threads and processors of a process. */
export class Company {
	readonly #aloneMs: number;
	#lastSite: string | undefined;
	#untilMs = Number.NEGATIVE_INFINITY;

	/** @param aloneMs a site is alone when no other one has sent for so long */
	constructor(aloneMs: number) {
		this.#aloneMs = aloneMs;
	}

	arrived(siteId: string, now: () => number): void {
		if (siteId === this.#lastSite) return;
		if (this.#lastSite !== undefined) this.#untilMs = now() + this.#aloneMs;
		this.#lastSite = siteId;
	}

	isAlone(nowMs: number): boolean {
		return nowMs >= this.#untilMs;
	}
}
