import { ThreadNotes } from '#core/thread-notes.ts';
import { type BatchNotes, wholeBatch } from '#record/batch-notes.ts';

/** A piece of work that a worker has begun and not ended. */
export interface Piece {
	slot: number;
	/** The message's place in the batch, or `wholeBatch`. */
	index: number;
}

/** The notes of an ingest worker: the message at work, and whose COMMIT is sent. */
export class WorkNotes {
	readonly shared: SharedArrayBuffer;
	readonly #thread: ThreadNotes;
	readonly #commits: Int32Array;

	constructor(shared: SharedArrayBuffer) {
		this.shared = shared;
		const fields = new Int32Array(shared);
		this.#thread = new ThreadNotes(fields);
		this.#commits = fields.subarray(ThreadNotes.fieldCount);
	}

	static create(slots: number): WorkNotes {
		return new WorkNotes(new SharedArrayBuffer((ThreadNotes.fieldCount + slots) * Int32Array.BYTES_PER_ELEMENT));
	}

	noteThread(): void {
		this.#thread.noteThread();
	}

	begin(slot: number, index: number): void {
		this.#thread.begin(slot, index);
	}

	end(): void {
		this.#thread.end();
	}

	/** A COMMIT of the slot's batch is sent: from now on some of its messages may be stored, though their answers are not known. */
	committing(slot: number): void {
		Atomics.store(this.#commits, slot, 1);
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
		Atomics.store(this.#commits, slot, 0);
	}

	/** Returns undefined while nothing is worked on. */
	get piece(): Piece | undefined {
		const { piece } = this.#thread;
		return piece && { slot: piece.first, index: piece.second };
	}

	get osThread(): number {
		return this.#thread.osThread;
	}

	hasCommitted(slot: number): boolean {
		return Atomics.load(this.#commits, slot) !== 0;
	}
}
