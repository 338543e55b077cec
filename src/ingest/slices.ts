import { setImmediate } from 'node:timers/promises';

/** The longest slice, in ms. A message takes some 100 µs; one that takes longer is a slice of its own. */
const sliceMs = 0.25;

/**
 * Divides the work on a batch into slices. Between two of them the thread looks at what has come for other batches, so a single message of another
 * site does not wait for all of a large batch.
 */
export class Slices {
	readonly #areMade: boolean;
	#startedMs = performance.now();
	#workedMs = 0;

	/** @param areMade false: all of the work is one slice */
	constructor(areMade: boolean) {
		this.#areMade = areMade;
	}

	/** Tells whether it is the turn of the other batches. */
	isOver(): boolean {
		return this.#areMade && performance.now() - this.#startedMs > sliceMs;
	}

	/** Resolves when the thread has looked at what has come for them. */
	async next(): Promise<void> {
		this.#workedMs = this.workedMs();
		await setImmediate();
		this.#startedMs = performance.now();
	}

	/** Returns how long the thread has worked on this batch, in ms. */
	workedMs(): number {
		return this.#workedMs + performance.now() - this.#startedMs;
	}
}
