/** So long a statement is expected to take that nobody has seen yet, or that is planned for its values, in ms. */
const unseenMs = 5;
/** The weight of the newest duration. */
const weight = 0.1;
/** A single long one must not count for hundreds of short ones behind it. */
const sampleMsMax = 100;
/** There are as many searches as there are combinations of parameters. */
const seenMax = 1024;

/** How long reads take in the database, by the names of their statements. */
export class ReadCosts {
	readonly #ms = new Map<string, number>();

	/** Returns the milliseconds that a statement is expected to take. */
	expectedMs(name: string | undefined): number {
		return (name === undefined ? undefined : this.#ms.get(name)) ?? unseenMs;
	}

	/** Learns how long one took. */
	took(name: string | undefined, ms: number): void {
		if (name === undefined) return;
		const before = this.#ms.get(name);
		const sample = Math.min(ms, sampleMsMax);
		if (before === undefined && this.#ms.size >= seenMax) this.#ms.clear();
		this.#ms.set(name, before === undefined ? sample : before + weight * (sample - before));
	}
}
