import { setImmediate } from 'node:timers/promises';
import type { ContentWork } from './message-content.ts';

/** The longest turn of a search on the main thread, in ms. Whoever waits meanwhile hardly notices it. */
const turnMs = 10;
/** The work on one message, in ms. Ordinary messages take less than one; no setting, because it keeps one message from using up a search. */
const messageMs = 1000;

/** The time that a search in messages has, and its turns on the main thread. */
export class SearchWork implements ContentWork {
	readonly #endMs: number;
	#turnStartedMs = performance.now();
	/** Work on the current message in turns that are over. */
	#workedMs = 0;
	#messageStartedMs = 0;

	constructor(withinMs: number) {
		this.#endMs = performance.now() + withinMs;
	}

	/** Tells whether the time of the whole search is over. */
	isOver(): boolean {
		return performance.now() >= this.#endMs;
	}

	/** Begins the work on the next message, in a new turn when that is due. */
	async nextMessage(): Promise<void> {
		await this.#giveWay();
		this.#workedMs = 0;
		this.#messageStartedMs = performance.now();
	}

	async goesOn(): Promise<boolean> {
		if (this.isOver() || this.#workedMs + performance.now() - this.#messageStartedMs > messageMs) return false;
		await this.#giveWay();
		return true;
	}

	/** A turn begins anew behind each wait, so that waiting for others is no work of a message. */
	async #giveWay(): Promise<void> {
		if (performance.now() - this.#turnStartedMs < turnMs) return;
		this.#workedMs += performance.now() - this.#messageStartedMs;
		await setImmediate();
		this.#turnStartedMs = performance.now();
		this.#messageStartedMs = this.#turnStartedMs;
	}
}
