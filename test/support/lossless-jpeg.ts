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

interface Coding {
	/** Bits of a sample. */
	precision?: number;
	/** Samples of a pixel. */
	components?: number;
	/** How a sample is predicted from its neighbours (ITU-T T.81 Table H.1). */
	selection?: number;
	/** A restart marker stands behind so many rows. */
	restartRows?: number;
}

/** Returns the prediction from the samples at the left, above, and at the left above. */
const predictors: readonly ((left: number, above: number, corner: number) => number)[] = [
	() => 0,
	(left) => left,
	(_left, above) => above,
	(_left, _above, corner) => corner,
	(left, above, corner) => left + above - corner,
	(left, above, corner) => left + ((above - corner) >> 1),
	(left, above, corner) => above + ((left - corner) >> 1),
	(left, above) => (left + above) >> 1,
];

/** Encodes an image by prediction: process 14 (ITU-T T.81 §H). By default it is grey, of 16 bits, by selection value 1. */
export function losslessJpeg(
	width: number,
	height: number,
	samples: ArrayLike<number>,
	{ precision = 16, components = 1, selection = 1, restartRows = 0 }: Coding = {},
): Uint8Array {
	const predict = predictors[selection] ?? (() => 0);
	const predicted = (row: number, column: number, component: number): number => {
		const sample = (up: number, back: number) => samples[((row - up) * width + column - back) * components + component] ?? 0;
		const isFirst = row === 0 || (restartRows > 0 && row % restartRows === 0);
		if (isFirst) return column > 0 ? sample(0, 1) : 1 << (precision - 1);
		return column > 0 ? predict(sample(0, 1), sample(1, 0), sample(1, 1)) : sample(1, 0);
	};
	const coded: number[] = [];
	for (let first = 0; first < height; first += restartRows || height) {
		const bits = new Bits();
		for (let row = first; row < Math.min(height, first + (restartRows || height)); row++)
			for (let at = 0; at < width * components; at++) {
				const [column, component] = [Math.floor(at / components), at % components];
				const difference = (((samples[row * width * components + at] ?? 0) - predicted(row, column, component)) << 16) >> 16;
				const category = difference === -32768 ? 16 : 32 - Math.clz32(Math.abs(difference));
				bits.put(category, codeBits);
				if (category < 16) bits.put(difference < 0 ? difference - 1 : difference, category);
			}
		bits.fill();
		if (first > 0) coded.push(0xff, 0xd0 + ((first / restartRows - 1) & 7));
		for (const byte of bits.bytes) coded.push(byte);
	}
	const counts = Array.from({ length: 16 }, (_, length) => (length + 1 === codeBits ? categories.length : 0));
	const each = (...of: number[]) => Array.from({ length: components }, (_, component) => [component + 1, ...of]).flat();
	return Uint8Array.from([
		...[0xff, 0xd8],
		...segment(0xc3, precision, height >> 8, height & 255, width >> 8, width & 255, components, ...each(0x11, 0)),
		...segment(0xc4, 0, ...counts, ...categories),
		...(restartRows === 0 ? [] : segment(0xdd, (restartRows * width) >> 8, (restartRows * width) & 255)),
		...segment(0xda, components, ...each(0), selection, 0, 0),
		...coded,
		...[0xff, 0xd9],
	]);
}
