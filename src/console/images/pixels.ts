import type { ImageDescription } from './calls.ts';

/** The attributes of an image that decoding needs. */
export type PixelShape = Pick<
	ImageDescription,
	'rows' | 'columns' | 'samples' | 'bits_allocated' | 'bits_stored' | 'signed' | 'planar' | 'photometric' | 'big_endian'
>;

export type Samples = Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | Float32Array | Float64Array;

/** The samples of a frame, row by row; those of a colour image pixel by pixel (R, G, B). */
export interface Pixels {
	samples: Samples;
	isColour: boolean;
}

/** Why a frame cannot be shown, in words for people. */
export class NotShown extends Error {
	override readonly name = 'NotShown';
}

/** Makes samples of the bytes of a frame that is not compressed. @throws NotShown */
export function pixelsOf(shape: PixelShape, bytes: ArrayBuffer): Pixels {
	const { rows, columns, samples: perPixel, photometric } = shape;
	const count = rows * columns * perPixel;
	if (photometric === 'YBR_FULL_422') return { samples: from422(shape, new Uint8Array(bytes)), isColour: true };
	const samples = samplesOf(shape, bytes, count);
	if (perPixel !== 3) return { samples, isColour: false };
	const inOrder = shape.planar ? interleaved(samples, rows * columns) : samples;
	return { samples: /^YBR_FULL/.test(photometric) ? rgbOfYbr(inOrder) : inOrder, isColour: true };
}

function samplesOf(
	{ bits_allocated: bits, bits_stored: stored, signed, big_endian: isBig }: PixelShape,
	bytes: ArrayBuffer,
	count: number,
): Samples {
	if (bits === 1) return unpacked(new Uint8Array(bytes), count);
	const size = bits / 8;
	if (![1, 2, 4, 8].includes(size)) throw new NotShown(`Pixels of ${bits} bits cannot be shown.`);
	if (bytes.byteLength < count * size) throw new NotShown('The pixel data is shorter than rows and columns say.');
	const ordered = isBig && size > 1 ? turned(bytes, size) : bytes;
	if (size === 8) return new Float64Array(ordered, 0, count);
	if (size === 4) return signed ? new Int32Array(ordered, 0, count) : new Uint32Array(ordered, 0, count);
	const samples = size === 1 ? new Uint8Array(ordered, 0, count) : new Uint16Array(ordered, 0, count);
	return bounded(samples, bits, stored, signed);
}

/** Bits above those that are stored may hold overlays; the highest stored one is the sign. */
export function bounded(samples: Uint8Array | Uint16Array, bits: number, stored: number, signed: boolean): Samples {
	const shift = bits - stored;
	const as = samples instanceof Uint8Array ? Int8Array : Int16Array;
	const whole: Samples = signed ? new as(samples.buffer as ArrayBuffer, samples.byteOffset, samples.length) : samples;
	if (shift <= 0) return whole;
	for (let at = 0; at < whole.length; at++) {
		const value = (whole[at] ?? 0) << shift;
		whole[at] = signed ? ((value << (32 - bits)) >> (32 - bits)) >> shift : (value & (2 ** bits - 1)) >> shift;
	}
	return whole;
}

function turned(bytes: ArrayBuffer, size: number): ArrayBuffer {
	const turned = new Uint8Array(bytes.slice(0));
	for (let at = 0; at + size <= turned.length; at += size) turned.subarray(at, at + size).reverse();
	return turned.buffer;
}

function unpacked(bytes: Uint8Array, count: number): Uint8Array {
	if (bytes.length * 8 < count) throw new NotShown('The pixel data is shorter than rows and columns say.');
	return Uint8Array.from({ length: count }, (_, at) => ((bytes[at >> 3] ?? 0) >> (at & 7)) & 1);
}

/** Colours that stand plane by plane, pixel by pixel. */
export function interleaved(planes: Samples, count: number): Samples {
	const samples = planes.slice();
	for (let at = 0; at < count; at++) for (let plane = 0; plane < 3; plane++) samples[3 * at + plane] = planes[plane * count + at] ?? 0;
	return samples;
}

function clamped(value: number): number {
	return value < 0 ? 0 : value > 255 ? 255 : Math.round(value);
}

/** PS3.3 §C.7.6.3.1.2. */
export function rgbOfYbr(ybr: Samples): Uint8Array {
	const rgb = new Uint8Array(ybr.length);
	for (let at = 0; at + 2 < ybr.length; at += 3) rgb.set(rgbOf(ybr[at] ?? 0, ybr[at + 1] ?? 0, ybr[at + 2] ?? 0), at);
	return rgb;
}

function rgbOf(y: number, cb: number, cr: number): [number, number, number] {
	return [clamped(y + 1.402 * (cr - 128)), clamped(y - 0.344136 * (cb - 128) - 0.714136 * (cr - 128)), clamped(y + 1.772 * (cb - 128))];
}

/** Two pixels of a row share their colour: Y1 Y2 CB CR. */
function from422({ rows, columns }: PixelShape, bytes: Uint8Array): Uint8Array {
	const count = rows * columns;
	if (bytes.length < 2 * count) throw new NotShown('The pixel data is shorter than rows and columns say.');
	const rgb = new Uint8Array(3 * count);
	for (let at = 0; at < count; at += 2) {
		const [first = 0, second = 0, cb = 0, cr = 0] = bytes.subarray(2 * at, 2 * at + 4);
		rgb.set(rgbOf(first, cb, cr), 3 * at);
		if (at + 1 < count) rgb.set(rgbOf(second, cb, cr), 3 * at + 3);
	}
	return rgb;
}

/** Gives each sample of a palette image its colour. */
export function colouredBy(palette: NonNullable<ImageDescription['palette']>, samples: Samples): Pixels {
	const [red, green, blue] = [palette.red, palette.green, palette.blue].map((text) =>
		Uint8Array.from(atob(text), (character) => character.charCodeAt(0)),
	);
	const rgb = new Uint8Array(3 * samples.length);
	const last = (red?.length ?? 1) - 1;
	for (let at = 0; at < samples.length; at++) {
		const entry = Math.min(last, Math.max(0, (samples[at] ?? 0) - palette.first));
		rgb[3 * at] = red?.[entry] ?? 0;
		rgb[3 * at + 1] = green?.[entry] ?? 0;
		rgb[3 * at + 2] = blue?.[entry] ?? 0;
	}
	return { samples: rgb, isColour: true };
}
