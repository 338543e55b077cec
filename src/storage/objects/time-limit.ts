import { Failure } from '#core/failure.ts';
import type { StoreStep } from '../metrics.ts';

/** Says that an object store does not answer; who is told so may try again later. */
export function noAnswer(): Failure {
	return new Failure('unavailable', 'the object store does not answer');
}

/**
 * Ends the wait for steps of an object store that do not come to their end. The step itself cannot be ended: a sync that hangs goes on hanging. So
 * while one of them does, further steps are refused at once, and nothing piles up behind it.
 */
export class TimeLimit {
	readonly #msMax: number;
	readonly #onTimeout: (step: StoreStep) => void;
	#hanging = 0;

	constructor(msMax: number, onTimeout: (step: StoreStep) => void) {
		this.#msMax = msMax;
		this.#onTimeout = onTimeout;
	}

	/** True while a step hangs that nobody waits for any more. */
	get isHanging(): boolean {
		return this.#hanging > 0;
	}

	/**
	 * Returns the outcome of a step. `late` is called with the outcome of one that came to its end after all, and undoes it.
	 * @throws Failure `unavailable` when it takes too long
	 */
	async of<T>(step: StoreStep, work: Promise<T>, late?: (outcome: T) => Promise<unknown>): Promise<T> {
		let timer: NodeJS.Timeout | undefined;
		const timedOut = new Promise<'timed out'>((resolve) => {
			timer = setTimeout(() => resolve('timed out'), this.#msMax);
			timer.unref();
		});
		try {
			const first = await Promise.race([work.then((outcome) => ({ outcome })), timedOut]);
			if (first !== 'timed out') return first.outcome;
		} finally {
			clearTimeout(timer);
		}
		this.#leave(step, work, late);
		throw noAnswer();
	}

	#leave<T>(step: StoreStep, work: Promise<T>, late: ((outcome: T) => Promise<unknown>) | undefined): void {
		this.#hanging++;
		this.#onTimeout(step);
		const ended = () => {
			this.#hanging--;
		};
		// An object for which this fails has no row, and the sweep finds it.
		void work
			.then(late)
			.catch(() => undefined)
			.then(ended);
	}
}
