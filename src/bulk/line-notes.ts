import { osThread } from '#core/thread-time.ts';

const fields = { piece: 0, line: 1, osThread: 2, writing: 3 } as const;

/**
 * The worker notes here which line of a chunk it checks, and the main thread reads it, also while the worker does not come to answer. Between begin and
 * end of a line the worker waits for nothing.
 */
export class LineNotes {
	readonly shared: SharedArrayBuffer;
	readonly #fields: Int32Array;

	constructor(shared: SharedArrayBuffer) {
		this.shared = shared;
		this.#fields = new Int32Array(shared);
	}

	static create(): LineNotes {
		return new LineNotes(new SharedArrayBuffer(Object.keys(fields).length * Int32Array.BYTES_PER_ELEMENT));
	}

	noteThread(): void {
		Atomics.store(this.#fields, fields.osThread, osThread());
	}

	begin(line: number): void {
		Atomics.store(this.#fields, fields.line, line);
		// An odd number says that a line has begun.
		Atomics.add(this.#fields, fields.piece, 1);
	}

	end(): void {
		Atomics.add(this.#fields, fields.piece, 1);
	}

	/** From now on some of its lines may be stored. */
	writing(): void {
		Atomics.store(this.#fields, fields.writing, 1);
	}

	get isWriting(): boolean {
		return Atomics.load(this.#fields, fields.writing) !== 0;
	}

	/** The line that is checked, and a number that no other line of the chunk has. Undefined while none is. */
	get work(): { piece: number; line: number } | undefined {
		const piece = Atomics.load(this.#fields, fields.piece);
		const line = Atomics.load(this.#fields, fields.line);
		// The worker may have gone on meanwhile.
		return piece % 2 === 1 && Atomics.load(this.#fields, fields.piece) === piece ? { piece, line } : undefined;
	}

	get osThread(): number {
		return Atomics.load(this.#fields, fields.osThread);
	}
}
