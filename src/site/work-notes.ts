import { osThread } from '#core/thread-time.ts';
import { type BatchNotes, wholeBatch } from '#record/batch-notes.ts';

/** A piece of work that a worker has begun and not ended. */
export interface Piece {
	slot: number;
	/** The message's place in the batch, or `wholeBatch`. */
	index: number;
}

const fields = { piece: 0, slot: 1, index: 2, osThread: 3, commits: 4 } as const;

/**
 * A worker writes here what it is working on, and the main thread reads it, also while the worker does not come to answer. A piece of work is never
 * interrupted: between its begin and its end the worker waits for nothing.
 */
export class WorkNotes {
	readonly shared: SharedArrayBuffer;
	readonly #fields: Int32Array;

	constructor(shared: SharedArrayBuffer) {
		this.shared = shared;
		this.#fields = new Int32Array(shared);
	}

	static create(slots: number): WorkNotes {
		return new WorkNotes(new SharedArrayBuffer((fields.commits + slots) * Int32Array.BYTES_PER_ELEMENT));
	}

	/** The worker's thread as Linux numbers it. Elsewhere it has no number. */
	noteThread(): void {
		Atomics.store(this.#fields, fields.osThread, osThread());
	}

	begin(slot: number, index: number): void {
		Atomics.store(this.#fields, fields.slot, slot);
		Atomics.store(this.#fields, fields.index, index);
		// An odd number says that the piece has begun.
		Atomics.store(this.#fields, fields.piece, (Atomics.load(this.#fields, fields.piece) + 1) | 1);
	}

	end(): void {
		Atomics.store(this.#fields, fields.piece, (Atomics.load(this.#fields, fields.piece) | 1) + 1);
	}

	/** A COMMIT of the slot's batch is sent: from now on some of its messages may be stored, though their answers are not known. */
	committing(slot: number): void {
		Atomics.store(this.#fields, fields.commits + slot, 1);
	}

	/** Returns what the batches of a slot note. */
	of(slot: number): BatchNotes {
		return {
			begin: (index = wholeBatch) => this.begin(slot, index),
			end: () => this.end(),
			committing: () => this.committing(slot),
		};
	}

	/** Called by the main thread when the slot gets another batch. */
	beginBatch(slot: number): void {
		Atomics.store(this.#fields, fields.commits + slot, 0);
	}

	/** Returns undefined while nothing is worked on. */
	get piece(): Piece | undefined {
		const number = Atomics.load(this.#fields, fields.piece);
		const slot = Atomics.load(this.#fields, fields.slot);
		const index = Atomics.load(this.#fields, fields.index);
		// The worker may have gone on meanwhile.
		return number % 2 === 1 && Atomics.load(this.#fields, fields.piece) === number ? { slot, index } : undefined;
	}

	get osThread(): number {
		return Atomics.load(this.#fields, fields.osThread);
	}

	hasCommitted(slot: number): boolean {
		return Atomics.load(this.#fields, fields.commits + slot) !== 0;
	}
}
