import { eightBitEntries, entryCount, expandedPalette } from '#dicom/palette.ts';
import type { Attributes } from './attributes.ts';
import { tableOf } from './lookup-table.ts';
import { NoPicture } from './picture.ts';
import type { StoredValues } from './samples.ts';
import type { PixelShape } from './shape.ts';

/** The order of the samples of a colour image once it is decoded. */
export type ColourLayout = 'by-pixel' | 'by-plane';

/** Returns red, green and blue of each pixel. The values have three samples a pixel. @throws NoPicture */
export function colourPicture(values: StoredValues, shape: PixelShape, layout: ColourLayout): Uint8Array {
	const bytes = eightBits(values, shape);
	const pixels = layout === 'by-plane' ? interleaved(bytes) : bytes;
	if (shape.photometric === 'RGB') return pixels;
	if (shape.photometric === 'YBR_FULL' || shape.photometric === 'YBR_FULL_422') return fromYbr(pixels);
	throw new NoPicture(`the Photometric Interpretation ${known(shape.photometric)} is not shown`);
}

/** A code string of the standard may be named; any other value of the data set is not repeated. */
function known(photometric: string): string {
	return /^[A-Z0-9_ ]{1,16}$/.test(photometric) ? photometric : 'of this image';
}

/** YBR_FULL_422 that is not compressed (PS3.3 §C.7.6.3.1.2): two luminances, then the chrominances that two pixels share. */
export function colourOf422(bytes: Uint8Array, pixels: number): Uint8Array {
	if (bytes.length < pixels * 2) throw new NoPicture('the pixel data is shorter than Rows and Columns say');
	const whole = new Uint8Array(pixels * 3);
	for (let index = 0; index < pixels; index++) {
		const pair = (index >> 1) * 4;
		whole[index * 3] = bytes[pair + (index & 1)] ?? 0;
		whole[index * 3 + 1] = bytes[pair + 2] ?? 0;
		whole[index * 3 + 2] = bytes[pair + 3] ?? 0;
	}
	return fromYbr(whole);
}

function eightBits(values: StoredValues, { bitsStored }: PixelShape): Uint8Array {
	if (values instanceof Uint8Array && bitsStored === 8) return values;
	const most = 2 ** bitsStored - 1;
	return Uint8Array.from(values as ArrayLike<number>, (value) => Math.round((value / most) * 255));
}

function interleaved(planes: Uint8Array): Uint8Array {
	const pixels = planes.length / 3;
	const bytes = new Uint8Array(planes.length);
	for (let plane = 0; plane < 3; plane++) {
		for (let index = 0; index < pixels; index++) bytes[index * 3 + plane] = planes[plane * pixels + index] ?? 0;
	}
	return bytes;
}

/** PS3.3 §C.7.6.3.1.2 */
function fromYbr(ybr: Uint8Array): Uint8Array {
	const rgb = new Uint8ClampedArray(ybr.length);
	for (let at = 0; at < ybr.length; at += 3) {
		const luminance = ybr[at] ?? 0;
		const blue = (ybr[at + 1] ?? 0) - 128;
		const red = (ybr[at + 2] ?? 0) - 128;
		rgb[at] = luminance + 1.402 * red;
		rgb[at + 1] = luminance - 0.344136 * blue - 0.714136 * red;
		rgb[at + 2] = luminance + 1.772 * blue;
	}
	return new Uint8Array(rgb.buffer);
}

const palettes = [
	{ descriptor: 0x0028_1101, data: 0x0028_1201, segmented: 0x0028_1221 },
	{ descriptor: 0x0028_1102, data: 0x0028_1202, segmented: 0x0028_1222 },
	{ descriptor: 0x0028_1103, data: 0x0028_1203, segmented: 0x0028_1223 },
] as const;

/** Looks the values up in the palettes of the image (PS3.3 §C.7.9). @throws NoPicture */
export function palettePicture(values: StoredValues, attributes: Attributes, { isSigned }: PixelShape): Uint8Array {
	const rgb = new Uint8Array(values.length * 3);
	for (const [colour, { descriptor, data, segmented }] of palettes.entries()) {
		const stated = attributes.words(descriptor);
		const [first = 0] = attributes.words(descriptor, isSigned).slice(1);
		const segments = attributes.bytes(data) === undefined ? attributes.bytes(segmented) : undefined;
		const table = segments
			? { bits: stated[2] ?? 16, entries: segmentedEntries(stated, segments, attributes.words(segmented)) }
			: tableOf(stated, first, attributes.bytes(data), attributes.words(data));
		const shown = eightBitEntries(table.entries, table.bits);
		const last = entryCount(stated[0] ?? 0) - 1;
		for (let index = 0; index < values.length; index++) {
			rgb[index * 3 + colour] = shown[Math.max(0, Math.min(last, (values[index] ?? 0) - first))] ?? 0;
		}
	}
	return rgb;
}

function segmentedEntries(...given: Parameters<typeof expandedPalette>): readonly number[] {
	const entries = expandedPalette(...given);
	if (entries === undefined) throw new NoPicture('the segments of a palette are broken, or do not fill it');
	return entries;
}
