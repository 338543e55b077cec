const firstBytes = 4096;

/** Bytes that arrive in pieces of any size, in one buffer that grows with what came, not with what was promised. */
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

	/** False, and nothing kept of the piece, when there would be more than the limit. */
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

	/** What was gathered; empty afterwards. */
	take(): Buffer {
		const bytes = this.#buffer.subarray(0, this.#length);
		this.#buffer = Buffer.alloc(0);
		this.#length = 0;
		return bytes;
	}
}
