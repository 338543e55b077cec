/** Bytes of a word of each VR whose values depend on the byte order (PS3.5 §7.3); all others are strings of bytes. */
const wordBytes: Readonly<Record<string, 2 | 4 | 8>> = {
	AT: 2,
	FD: 8,
	FL: 4,
	OD: 8,
	OF: 4,
	OL: 4,
	OV: 8,
	OW: 2,
	SL: 4,
	SS: 2,
	SV: 8,
	UL: 4,
	US: 2,
	UV: 8,
	XS: 2,
};

/** Returns 1 for a VR whose values are the same in both byte orders. UN is one of them: its value is always in little endian (PS3.5 §6.2.2). */
export function wordBytesOf(vr: string): 1 | 2 | 4 | 8 {
	return wordBytes[vr] ?? 1;
}

/** Returns a copy with the bytes of each word the other way round. The length is a multiple of `size`. */
export function swapped(bytes: Buffer, size: 1 | 2 | 4 | 8): Buffer {
	const copy = Buffer.from(bytes);
	if (size === 2) return copy.swap16();
	if (size === 4) return copy.swap32();
	return size === 8 ? copy.swap64() : copy;
}

/** Swaps the words of a value that comes in pieces, wherever those end. */
export class WordSwap {
	readonly #size: 1 | 2 | 4 | 8;
	#rest: Buffer = Buffer.alloc(0);

	constructor(size: 1 | 2 | 4 | 8) {
		this.#size = size;
	}

	/** Returns the words that are whole; they may be kept. */
	feed(piece: Buffer): Buffer {
		const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
		const whole = bytes.length - (bytes.length % this.#size);
		this.#rest = Buffer.from(bytes.subarray(whole));
		return swapped(bytes.subarray(0, whole), this.#size);
	}
}
