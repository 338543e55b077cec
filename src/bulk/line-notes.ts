import { ThreadNotes } from '#core/thread-notes.ts';

/** The notes of the worker of an import: the line of a chunk that it checks, and whether lines of the chunk are being stored. */
export class LineNotes {
	readonly shared: SharedArrayBuffer;
	readonly #thread: ThreadNotes;
	readonly #writing: Int32Array;

	constructor(shared: SharedArrayBuffer) {
		this.shared = shared;
		const fields = new Int32Array(shared);
		this.#thread = new ThreadNotes(fields);
		this.#writing = fields.subarray(ThreadNotes.fieldCount);
	}

	static create(): LineNotes {
		return new LineNotes(new SharedArrayBuffer((ThreadNotes.fieldCount + 1) * Int32Array.BYTES_PER_ELEMENT));
	}

	noteThread(): void {
		this.#thread.noteThread();
	}

	begin(line: number): void {
		this.#thread.begin(line);
	}

	end(): void {
		this.#thread.end();
	}

	/** From now on some of its lines may be stored. */
	writing(): void {
		Atomics.store(this.#writing, 0, 1);
	}

	get isWriting(): boolean {
		return Atomics.load(this.#writing, 0) !== 0;
	}

	/** The line that is checked, and a number that no other line of the chunk has. Undefined while none is. */
	get work(): { piece: number; line: number } | undefined {
		const { piece } = this.#thread;
		return piece && { piece: piece.number, line: piece.first };
	}

	get osThread(): number {
		return this.#thread.osThread;
	}
}
