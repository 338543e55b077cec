/** Part of the last batch's time that may be spent on waiting, and the least of it in ms: a timer knows no less. */
const share = 0.25;
/** Timers of Node count whole milliseconds. */
const waitMsMin = 1;
/** After so many batches that nobody came back to, one more sender of ten is waited for again. */
const growth = 0.1;

/**
 * Guesses how many of the senders that a batch answered come back at once. Those that send one message after the other (MLLP, C-STORE)
 * do, and a batch that starts with the first of them leaves the others to the next: half of the senders then wait while the other
 * half is served, and each transaction carries half of what it could. The guess follows what came; where nobody comes back nobody
 * is waited for.
 */
export class Returning {
	readonly #waitMsMax: number;
	#hope = 1;
	#answered = 0;
	#arrived = 0;
	/** Since when, and until when, those of the last batch are expected. */
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

	/** A message came; it may be of one of them. */
	arrived(): void {
		this.#arrived += 1;
	}

	/** How long the next batch should wait for them, in ms; 0: it should start. */
	waitMs(nowMs: number): number {
		if (nowMs >= this.#untilMs) return 0;
		return this.#arrived >= Math.round(this.#answered * this.#hope) ? 0 : this.#untilMs - nowMs;
	}

	/** They were waited for until the end. */
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
