/** The share of the last batch's time that may be spent on waiting, and the shortest wait in ms, which is the resolution of a timer. */
const share = 0.25;
/** Timers of Node count whole milliseconds. */
const waitMsMin = 1;
/** After each batch whose wait did not time out, the expected share of returning senders grows by this much. */
const growth = 0.1;

/**
 * Guesses how many of the senders that a batch answered come back at once. Senders of one message after the other (MLLP, C-STORE) do. If a
 * batch
 * starts with the first of them, the others must wait for the next one: then half of the senders wait while the other half is served, and
 * each
 * transaction carries half of what it could. The guess follows the arrivals; if nobody comes back, nobody is waited for.
 */
export class Returning {
	readonly #waitMsMax: number;
	#hope = 1;
	#answered = 0;
	#arrived = 0;
	/** The time until which the senders of the last batch are expected. */
	#untilMs = Number.NEGATIVE_INFINITY;
	#timedOut = false;

	constructor(waitMsMax: number) {
		this.#waitMsMax = waitMsMax;
	}

	/** A batch was answered. */
	answered(messages: number, tookMs: number, nowMs: number): void {
		this.#answered = messages;
		this.#arrived = 0;
		this.#timedOut = false;
		this.#untilMs = nowMs + Math.min(this.#waitMsMax, Math.max(waitMsMin, tookMs * share));
	}

	/** Counts a message that arrived. It may come from one of them. */
	arrived(): void {
		this.#arrived += 1;
	}

	/** Returns how long the next batch should wait for them, in ms; 0 means that it should start. */
	waitMs(nowMs: number): number {
		if (nowMs >= this.#untilMs) return 0;
		return this.#arrived >= Math.round(this.#answered * this.#hope) ? 0 : this.#untilMs - nowMs;
	}

	/** Notes that the wait lasted until its end. */
	timedOut(): void {
		this.#timedOut = true;
		this.#untilMs = Number.NEGATIVE_INFINITY;
	}

	/** The next batch starts. */
	started(): void {
		if (this.#answered === 0) return;
		const came = Math.min(1, this.#arrived / this.#answered);
		this.#hope = this.#timedOut ? came : Math.min(1, this.#hope + growth);
		this.#untilMs = Number.NEGATIVE_INFINITY;
		this.#answered = 0;
	}
}
