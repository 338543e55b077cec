import { BitWriter, codesOf } from './jpeg-bits.ts';
import { type HuffmanTable, huffman, steps, zigzag } from './jpeg-tables.ts';
import type { Picture } from './picture.ts';

const dc = [codesOf(huffman.luminanceDc), codesOf(huffman.chrominanceDc)] as const;
const ac = [codesOf(huffman.luminanceAc), codesOf(huffman.chrominanceAc)] as const;
/** The symbols for the end of a block and for a run of sixteen zeros (ISO/IEC 10918-1 §F.1.2.2). */
const endOfBlock = 0x00;
const sixteenZeros = 0xf0;

/**
 * Writes a picture as baseline JPEG (ISO/IEC 10918-1), with chrominance in full resolution.
 * @param quality from 1 to 100
 */
export function jpegOf(picture: Picture, quality: number): Uint8Array {
	const { width, height, samples, bytes } = picture;
	const tables = steps(quality);
	const bits = new BitWriter(Math.ceil(bytes.length / 4));
	const previous = [0, 0, 0];
	const dividers = tables.map(dividersOf);
	const block = new Float64Array(64);
	for (let y = 0; y < height; y += 8) {
		for (let x = 0; x < width; x += 8) {
			for (let component = 0; component < samples; component++) {
				const kind = component === 0 ? 0 : 1;
				takeBlock(picture, x, y, component, block);
				transform(block);
				previous[component] = writeBlock(bits, block, dividers[kind] ?? block, { kind, previousDc: previous[component] ?? 0 });
			}
		}
	}
	return Buffer.concat([head(picture, tables), bits.end(), Buffer.from('ffd9', 'hex')]);
}

/** Takes the samples of a block around 0; beyond the edges those of the edge go on. RGB becomes luminance and chrominance (ISO/IEC 10918-5 §7). */
function takeBlock({ width, height, samples, bytes }: Picture, x: number, y: number, component: number, block: Float64Array): void {
	for (let row = 0; row < 8; row++) {
		const from = Math.min(height - 1, y + row) * width;
		for (let column = 0; column < 8; column++) {
			const at = (from + Math.min(width - 1, x + column)) * samples;
			block[row * 8 + column] = samples === 1 ? (bytes[at] ?? 0) - 128 : mixed(bytes, at, component);
		}
	}
}

function mixed(bytes: Uint8Array, at: number, component: number): number {
	const red = bytes[at] ?? 0;
	const green = bytes[at + 1] ?? 0;
	const blue = bytes[at + 2] ?? 0;
	if (component === 0) return 0.299 * red + 0.587 * green + 0.114 * blue - 128;
	if (component === 1) return -0.168736 * red - 0.331264 * green + 0.5 * blue;
	return 0.5 * red - 0.418688 * green - 0.081312 * blue;
}

/** Half the cosine of n sixteenths of pi. */
const cosine = Array.from({ length: 32 }, (_, n) => Math.cos((n * Math.PI) / 16) / 2);
/** Each of eight samples adds its share to each of eight coefficients (§A.3.3). */
const shares = Float64Array.from({ length: 64 }, (_, index) => {
	const [coefficient, sample] = [index >> 3, index & 7];
	return coefficient === 0 ? Math.SQRT1_2 / 2 : (cosine[((2 * sample + 1) * coefficient) % 32] ?? 0);
});
const half = new Float64Array(64);

/** The discrete cosine transform, first of the rows, then of the columns; even and odd coefficients need four products each. */
function transform(block: Float64Array): void {
	for (let row = 0; row < 8; row++) eight(block, row * 8, 1, half, row, 8);
	for (let row = 0; row < 8; row++) eight(half, row * 8, 1, block, row, 8);
}

/** Transforms eight samples and writes the coefficients across, so that the second time turns the block back. */
function eight(from: Float64Array, start: number, step: number, to: Float64Array, at: number, stride: number): void {
	const s0 = from[start] ?? 0;
	const s1 = from[start + step] ?? 0;
	const s2 = from[start + 2 * step] ?? 0;
	const s3 = from[start + 3 * step] ?? 0;
	const s4 = from[start + 4 * step] ?? 0;
	const s5 = from[start + 5 * step] ?? 0;
	const s6 = from[start + 6 * step] ?? 0;
	const s7 = from[start + 7 * step] ?? 0;
	for (let coefficient = 0; coefficient < 8; coefficient++) {
		const sign = (coefficient & 1) === 0 ? 1 : -1;
		const base = coefficient * 8;
		to[at + coefficient * stride] =
			(shares[base] ?? 0) * (s0 + sign * s7) +
			(shares[base + 1] ?? 0) * (s1 + sign * s6) +
			(shares[base + 2] ?? 0) * (s2 + sign * s5) +
			(shares[base + 3] ?? 0) * (s3 + sign * s4);
	}
}

/** Returns the factor of each coefficient, in zigzag order. */
function dividersOf(table: Uint8Array): Float64Array {
	return Float64Array.from(zigzag, (place) => 1 / (table[place] ?? 1));
}

/** Writes a block (§F.1.2) and returns its first coefficient, from which the next one is told. */
function writeBlock(
	bits: BitWriter,
	block: Float64Array,
	dividers: Float64Array,
	{ kind, previousDc }: { kind: 0 | 1; previousDc: number },
): number {
	const first = Math.round((block[0] ?? 0) * (dividers[0] ?? 1));
	writeNumber(bits, dc[kind], 0, first - previousDc);
	let zeros = 0;
	for (let index = 1; index < 64; index++) {
		const value = Math.round((block[zigzag[index] ?? 0] ?? 0) * (dividers[index] ?? 1));
		if (value === 0) {
			zeros++;
			continue;
		}
		for (; zeros > 15; zeros -= 16) bits.symbol(ac[kind], sixteenZeros);
		writeNumber(bits, ac[kind], zeros, value);
		zeros = 0;
	}
	if (zeros > 0) bits.symbol(ac[kind], endOfBlock);
	return first;
}

/** Writes the number of zeros before a number, the number of its bits, and its bits. A negative number is written less one (§F.1.2.1). */
function writeNumber(bits: BitWriter, codes: ReturnType<typeof codesOf>, zeros: number, value: number): void {
	const size = 32 - Math.clz32(Math.abs(value));
	bits.symbol(codes, (zeros << 4) | size);
	if (size > 0) bits.write(value < 0 ? value - 1 : value, size);
}

function segment(marker: number, ...content: (number | Uint8Array | readonly number[])[]): Buffer {
	const body = Buffer.concat(content.map((part) => Buffer.from(typeof part === 'number' ? [part] : part)));
	const opening = Buffer.from([0xff, marker, 0, 0]);
	opening.writeUInt16BE(body.length + 2, 2);
	return Buffer.concat([opening, body]);
}

/** The marker segments before the scan (§B.2): JFIF, steps, frame, Huffman tables, scan. */
function head({ width, height, samples }: Picture, tables: readonly Uint8Array[]): Buffer {
	const components = Array.from({ length: samples }, (_, index) => index);
	const kinds = samples === 1 ? [0] : [0, 1];
	const coded = (place: number, { counts, symbols }: HuffmanTable) => segment(0xc4, place, counts, symbols);
	return Buffer.concat([
		Buffer.from('ffd8', 'hex'),
		segment(0xe0, Buffer.from('JFIF\0', 'latin1'), [1, 1, 0, 0, 1, 0, 1, 0, 0]),
		...kinds.map((kind) =>
			segment(
				0xdb,
				kind,
				zigzag.map((place) => tables[kind]?.[place] ?? 1),
			),
		),
		segment(
			0xc0,
			8,
			[height >> 8, height & 0xff, width >> 8, width & 0xff],
			samples,
			components.flatMap((index) => [index + 1, 0x11, Math.min(1, index)]),
		),
		coded(0x00, huffman.luminanceDc),
		coded(0x10, huffman.luminanceAc),
		...(samples === 1 ? [] : [coded(0x01, huffman.chrominanceDc), coded(0x11, huffman.chrominanceAc)]),
		segment(
			0xda,
			samples,
			components.flatMap((index) => [index + 1, index === 0 ? 0x00 : 0x11]),
			[0, 63, 0],
		),
	]);
}
