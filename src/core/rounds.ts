import { type Stoppable, systemTimers, type Timers } from './timers.ts';

/** So many rounds in a row have nothing to do before they end: work that comes all the time would begin them anew for each piece. */
const idleRoundsMax = 20;

/**
 * Makes a round again and again while there is something to do. A service that nobody asks anything would otherwise be woken some fifty times a
 * second.
 */
export class Rounds {
	readonly #everyMs: number;
	readonly #round: () => boolean;
	readonly #timers: Timers;
	#running: Stoppable | undefined;
	#idle = 0;

	/** @param round returns false where there was nothing to do */
	constructor(everyMs: number, round: () => boolean, timers: Timers = systemTimers) {
		this.#everyMs = everyMs;
		this.#round = round;
		this.#timers = timers;
	}

	/** Has to be called when there is something to do. */
	wake(): void {
		this.#idle = 0;
		this.#running ??= this.#timers.every(this.#everyMs, () => {
			this.#idle = this.#round() ? 0 : this.#idle + 1;
			if (this.#idle >= idleRoundsMax) this.stop();
		});
	}

	stop(): void {
		this.#running?.stop();
		this.#running = undefined;
	}
}
