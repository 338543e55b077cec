import { strokeMs } from './strokes.ts';
import { type Stoppable, systemTimers, type Timers } from './timers.ts';

const lookMs = 100;

/**
 * Measures for how long somebody has not answered. Only time counts in which this process had its turns, so looks are counted: the first on a stroke, by when most
 * answers have come, and then ten a second.
 */
export class Silence {
	readonly #timers: Timers;
	readonly #looked: () => void;
	#next: Stoppable | undefined;
	#ms = 0;

	/** @param looked is called after each look */
	constructor(looked: () => void = () => undefined, timers: Timers = systemTimers) {
		this.#timers = timers;
		this.#looked = looked;
	}

	/** Returns the milliseconds since `begin`: 0 when nobody is waited for, and before the first look. */
	get ms(): number {
		return this.#ms;
	}

	/** Waits for an answer, unless it does so already. */
	begin(): void {
		if (this.#next !== undefined) return;
		const beganMs = this.#timers.elapsedMs();
		this.#next = this.#timers.about(strokeMs, () => {
			this.#next = this.#timers.every(lookMs, () => this.#look(lookMs));
			this.#look(Math.min(strokeMs, this.#timers.elapsedMs() - beganMs));
		});
	}

	#look(ms: number): void {
		this.#ms += ms;
		this.#looked();
	}

	/** The answer has come, or is not waited for any more. */
	end(): void {
		this.#next?.stop();
		this.#next = undefined;
		this.#ms = 0;
	}
}
