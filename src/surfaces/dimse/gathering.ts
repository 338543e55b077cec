/** A buffer size: it grows with what arrives. */
const firstBytes = 4096;

/** Gathers bytes that arrive in pieces of any size. The buffer grows with the bytes received, not with the length announced. */
export class Gathering {
	readonly #bytesMax: number;
	#buffer: Buffer = Buffer.alloc(0);
	#length = 0;

	constructor(bytesMax: number) {
		this.#bytesMax = bytesMax;
	}

	get length(): number {
		return this.#length;
	}

	/** Adds a piece. Returns false and keeps nothing of the piece when the limit would be exceeded. */
	add(piece: Uint8Array): boolean {
		const length = this.#length + piece.length;
		if (length > this.#bytesMax) return false;
		if (length > this.#buffer.length) {
			const grown = Buffer.allocUnsafe(Math.min(this.#bytesMax, Math.max(length, firstBytes, 2 * this.#buffer.length)));
			this.#buffer.copy(grown, 0, 0, this.#length);
			this.#buffer = grown;
		}
		this.#buffer.set(piece, this.#length);
		this.#length = length;
		return true;
	}

	/** Returns the gathered bytes and empties the buffer. */
	take(): Buffer {
		const bytes = this.#buffer.subarray(0, this.#length);
		this.#buffer = Buffer.alloc(0);
		this.#length = 0;
		return bytes;
	}
}
