import type { PixelShape } from '../pixels.ts';
import type { Decoded } from './decoded.ts';

/** The number of segments and the offsets of up to fifteen of them (PS3.5 §G.5). */
const headerBytes = 64;

/** Decodes RLE Lossless (PS3.5 §G). A segment has one byte of each sample, the most significant one first. @throws Error */
export function decodeRle(bytes: Uint8Array, { rows, columns, samples, bits_allocated: bits }: PixelShape): Decoded {
	const size = bits / 8;
	const pixels = rows * columns;
	if ((size !== 1 && size !== 2) || bytes.length < headerBytes) throw new Error('no RLE segments');
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const count = view.getUint32(0, true);
	if (count !== samples * size) throw new Error('other segments than samples');
	const planes = new Uint8Array(pixels * count);
	for (let segment = 0; segment < count; segment++) {
		const from = view.getUint32(4 + 4 * segment, true);
		const to = segment + 1 < count ? view.getUint32(8 + 4 * segment, true) : bytes.length;
		const plane = planes.subarray(Math.floor(segment / size) * pixels * size);
		unpack(bytes.subarray(from, to), plane, size - 1 - (segment % size), size, pixels);
	}
	return { bytes: planes.buffer, rows, columns, samples, bits: size === 1 ? 8 : 16, isPlanar: samples > 1, isRgb: false };
}

/** PackBits (PS3.5 §G.3.2). */
function unpack(packed: Uint8Array, plane: Uint8Array, place: number, step: number, pixels: number): void {
	let done = 0;
	for (let at = 0; done < pixels && at < packed.length; ) {
		const control = packed[at++] ?? 128;
		if (control === 128) continue;
		const isRun = control > 128;
		const length = isRun ? 257 - control : control + 1;
		for (let index = 0; index < length && done < pixels; index++, done++) plane[done * step + place] = packed[isRun ? at : at + index] ?? 0;
		at += isRun ? 1 : length;
	}
	if (done < pixels) throw new Error('the segments do not fill the image');
}
