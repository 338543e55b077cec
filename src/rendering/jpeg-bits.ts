import type { HuffmanTable } from './jpeg-tables.ts';

/** The code of each symbol and its length in bits (ISO/IEC 10918-1 Annex C). */
interface Codes {
	codes: Uint16Array;
	lengths: Uint8Array;
}

export function codesOf({ counts, symbols }: HuffmanTable): Codes {
	const codes = new Uint16Array(256);
	const lengths = new Uint8Array(256);
	let code = 0;
	let at = 0;
	for (const [index, count] of counts.entries()) {
		for (let n = 0; n < count; n++) {
			const symbol = symbols[at++] ?? 0;
			codes[symbol] = code++;
			lengths[symbol] = index + 1;
		}
		code <<= 1;
	}
	return { codes, lengths };
}

/** The entropy-coded bits of a scan, with a zero behind each byte of ones (§B.1.1.5). */
export class BitWriter {
	#bytes: Uint8Array;
	#length = 0;
	#bits = 0;
	#count = 0;

	constructor(expectedBytes: number) {
		this.#bytes = new Uint8Array(Math.max(1024, expectedBytes));
	}

	/** Writes the lowest bits of a number, 16 at most. */
	write(value: number, count: number): void {
		this.#bits = (this.#bits << count) | (value & ((1 << count) - 1));
		this.#count += count;
		while (this.#count >= 8) {
			this.#count -= 8;
			this.#byte((this.#bits >> this.#count) & 0xff);
		}
		this.#bits &= (1 << this.#count) - 1;
	}

	symbol({ codes, lengths }: Codes, symbol: number): void {
		this.write(codes[symbol] ?? 0, lengths[symbol] ?? 0);
	}

	/** Fills the last byte with ones and returns all bytes. */
	end(): Uint8Array {
		if (this.#count > 0) this.write(0x7f, 8 - this.#count);
		return this.#bytes.subarray(0, this.#length);
	}

	#byte(byte: number): void {
		if (this.#length + 2 > this.#bytes.length) {
			const grown = new Uint8Array(this.#bytes.length * 2);
			grown.set(this.#bytes);
			this.#bytes = grown;
		}
		this.#bytes[this.#length++] = byte;
		if (byte === 0xff) this.#bytes[this.#length++] = 0;
	}
}
