/** Bits of a stream of JPEG, in which a byte of ones is followed by a zero (ITU-T T.81 §F.1.2.3). */
class Bits {
	readonly bytes: number[] = [];
	#held = 0;
	#count = 0;

	put(value: number, bits: number): void {
		for (let bit = bits - 1; bit >= 0; bit--) {
			this.#held = (this.#held << 1) | ((value >> bit) & 1);
			if (++this.#count === 8) this.#end();
		}
	}

	#end(): void {
		this.bytes.push(this.#held);
		if (this.#held === 0xff) this.bytes.push(0);
		[this.#held, this.#count] = [0, 0];
	}

	fill(): void {
		while (this.#count > 0) this.put(1, 1);
	}
}

const segment = (marker: number, ...content: number[]) => [0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 255, ...content];

/** The codes of all seventeen categories of differences have five bits: the category itself. */
const codeBits = 5;
const categories = Array.from({ length: 17 }, (_, category) => category);

/** Encodes a grey image of 16 bits by first-order prediction: process 14, selection value 1 (ITU-T T.81 §H). */
export function losslessJpeg(width: number, height: number, samples: Uint16Array): Uint8Array {
	const bits = new Bits();
	for (let row = 0; row < height; row++) {
		for (let column = 0; column < width; column++) {
			const at = row * width + column;
			const before = column > 0 ? samples[at - 1] : row > 0 ? samples[at - width] : 1 << 15;
			const difference = (((samples[at] ?? 0) - (before ?? 0)) << 16) >> 16;
			const category = difference === -32768 ? 16 : 32 - Math.clz32(Math.abs(difference));
			bits.put(category, codeBits);
			if (category < 16) bits.put(difference < 0 ? difference - 1 : difference, category);
		}
	}
	bits.fill();
	const counts = Array.from({ length: 16 }, (_, length) => (length + 1 === codeBits ? categories.length : 0));
	return Uint8Array.from([
		...[0xff, 0xd8],
		...segment(0xc3, 16, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0),
		...segment(0xc4, 0, ...counts, ...categories),
		...segment(0xda, 1, 1, 0, 1, 0, 0),
		...bits.bytes,
		...[0xff, 0xd9],
	]);
}
