import type { WorkerThread } from './worker-thread.ts';

/** A thread, and which of its lanes it is. */
export interface Assignment {
	readonly thread: WorkerThread;
	readonly lane: number;
}

/** So many more batches that met one of the other lane than did not show that there is work for two threads. One takes 90 MB, and half a second to begin. */
const meetingsMin = 32;

/**
 * The assignment of the second of two lanes of the only thread. When its batches mostly begin while one of the first lane is under way, it gets a thread
 * of its own, so that both are interpreted at the same time. A process in which they seldom meet does without the memory of that thread.
 */
export class SecondThread {
	readonly #second: WorkerThread;
	readonly #onFailed: (error: unknown) => void;
	#assigned: Assignment;
	#meetings = 0;
	#isBeginning = false;
	#isReady = false;

	/** @param shared the lane of the thread that it shares; `second` begins when it is first given something */
	constructor(shared: Assignment, second: WorkerThread, onFailed: (error: unknown) => void) {
		this.#assigned = shared;
		this.#second = second;
		this.#onFailed = onFailed;
	}

	/**
	 * Returns where the next batch goes. One that is interpreted ahead goes where the one before it is.
	 * @param counts false for a batch that is no work for a thread
	 */
	assignmentOf(isAhead: boolean, counts: boolean): Assignment {
		if (isAhead || this.#assigned.thread === this.#second) return this.#assigned;
		if (this.#isReady) this.#assigned = { thread: this.#second, lane: 0 };
		else if (counts) this.#count(this.#assigned.thread.isBusy);
		return this.#assigned;
	}

	#count(meets: boolean): void {
		this.#meetings = Math.max(0, this.#meetings + (meets ? 1 : -1));
		if (this.#meetings < meetingsMin || this.#isBeginning) return;
		this.#isBeginning = true;
		void this.#begin();
	}

	/** The lane goes on in the shared thread meanwhile. A thread that does not begin is tried again when they have met as often once more. */
	async #begin(): Promise<void> {
		try {
			const result = await this.#second.run(0, [], { isAhead: false, inSlices: false });
			if (result.kind === 'failed') throw result.error;
			this.#isReady = result.kind === 'done';
		} catch (error) {
			this.#onFailed(error);
		}
		this.#meetings = 0;
		this.#isBeginning = false;
	}
}
