import { osThread } from './thread-time.ts';

const fields = { piece: 0, osThread: 1, first: 2, second: 3 } as const;

/** A piece of work that a worker has begun and not ended. */
export interface NotedPiece {
	/** No other piece of the worker has it. */
	number: number;
	/** The worker says by these which piece it is. */
	first: number;
	second: number;
}

/**
 * A worker notes here what it is working on, and the main thread reads it, also while the worker does not come to answer. A piece of work is never
 * interrupted: between its begin and its end the worker waits for nothing.
 */
export class ThreadNotes {
	/** The fields that these notes take. Whoever has more to note puts it behind them. */
	static readonly fieldCount = Object.keys(fields).length;
	readonly #fields: Int32Array;

	constructor(shared: Int32Array) {
		this.#fields = shared;
	}

	/** Notes the worker's thread as Linux numbers it. Elsewhere it has no number. */
	noteThread(): void {
		Atomics.store(this.#fields, fields.osThread, osThread());
	}

	begin(first: number, second = 0): void {
		Atomics.store(this.#fields, fields.first, first);
		Atomics.store(this.#fields, fields.second, second);
		// An odd number says that the piece has begun.
		Atomics.store(this.#fields, fields.piece, (Atomics.load(this.#fields, fields.piece) + 1) | 1);
	}

	end(): void {
		Atomics.store(this.#fields, fields.piece, (Atomics.load(this.#fields, fields.piece) | 1) + 1);
	}

	/** Returns undefined while nothing is worked on. */
	get piece(): NotedPiece | undefined {
		const number = Atomics.load(this.#fields, fields.piece);
		const first = Atomics.load(this.#fields, fields.first);
		const second = Atomics.load(this.#fields, fields.second);
		// The worker may have gone on meanwhile.
		return number % 2 === 1 && Atomics.load(this.#fields, fields.piece) === number ? { number, first, second } : undefined;
	}

	get osThread(): number {
		return Atomics.load(this.#fields, fields.osThread);
	}
}
