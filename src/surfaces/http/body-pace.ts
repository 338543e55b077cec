import type { HttpResponse } from './load.ts';

/** How fast a body must come: this many bytes within this time. */
export interface Pace {
	bytes: number;
	ms: number;
}

/** The library ends a connection without a word when little of a body has come for 8 seconds. It must be prevented before that. */
const rearmMs = 3000;

/** Watches that a body keeps coming. */
export class BodyPace {
	readonly #response: HttpResponse;
	readonly #pace: Pace;
	readonly #onStall: () => void;
	#bytes = 0;
	#sinceMs = performance.now();
	#isHeldBack = false;
	#timer: NodeJS.Timeout | undefined;

	/** @param onStall is called once when the body is slower than its pace */
	constructor(response: HttpResponse, pace: Pace, onStall: () => void) {
		this.#response = response;
		this.#pace = pace;
		this.#onStall = onStall;
		this.#timer = setInterval(() => this.#check(), Math.min(rearmMs, pace.ms));
	}

	arrived(bytes: number): void {
		this.#bytes += bytes;
		if (this.#bytes < this.#pace.bytes) return;
		this.#bytes = 0;
		this.#sinceMs = performance.now();
	}

	/** While the reader holds the sender back, the sender is not late. */
	holdBack(isHeldBack: boolean): void {
		this.#isHeldBack = isHeldBack;
		this.#sinceMs = performance.now();
	}

	end(): void {
		clearInterval(this.#timer);
		this.#timer = undefined;
	}

	#check(): void {
		if (this.#isHeldBack) return;
		if (!this.#isLate()) {
			// Both together start the time of the library anew.
			this.#response.pause();
			this.#response.resume();
			return;
		}
		// What has arrived while the event loop was busy is read before this.
		setImmediate(() => {
			if (this.#timer === undefined || this.#isHeldBack || !this.#isLate()) return;
			this.end();
			this.#onStall();
		});
	}

	#isLate(): boolean {
		return performance.now() - this.#sinceMs > this.#pace.ms;
	}
}
