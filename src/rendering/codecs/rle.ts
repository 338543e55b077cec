import { NoPicture } from '../picture.ts';
import type { PixelShape } from '../shape.ts';

/** The header: the number of segments and the offsets of up to fifteen of them (PS3.5 §G.5). */
const headerBytes = 64;

function broken(): NoPicture {
	return new NoPicture('the RLE segments of the pixel data are broken');
}

/**
 * Decodes a frame of RLE Lossless (PS3.5 §G). A segment has one byte of each sample, the most significant one first; the result has the samples
 * plane by plane in little endian.
 * @throws NoPicture when the segments are not those of the image, or do not fill it
 */
export function decodeRle(bytes: Uint8Array, { rows, columns, samples, bitsAllocated }: PixelShape): Uint8Array {
	const sampleBytes = bitsAllocated / 8;
	const pixels = rows * columns;
	if (bytes.length < headerBytes) throw broken();
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const count = view.getUint32(0, true);
	if (count !== samples * sampleBytes || count > 15) throw broken();
	const planes = new Uint8Array(pixels * count);
	for (let segment = 0; segment < count; segment++) {
		const from = view.getUint32(4 + 4 * segment, true);
		const next = segment + 1 < count ? view.getUint32(8 + 4 * segment, true) : bytes.length;
		if (from < headerBytes || next < from || next > bytes.length) throw broken();
		const sample = Math.floor(segment / sampleBytes);
		const place = sampleBytes - 1 - (segment % sampleBytes);
		unpack(bytes.subarray(from, next), planes.subarray(sample * pixels * sampleBytes), { place, step: sampleBytes, pixels });
	}
	return planes;
}

interface Spread {
	/** The byte of a sample that the segment has, from the least significant one. */
	place: number;
	/** Bytes from one sample to the next. */
	step: number;
	pixels: number;
}

/** PackBits (PS3.5 §G.3.2). A last byte beyond the image only makes the length even. */
function unpack(segment: Uint8Array, plane: Uint8Array, { place, step, pixels }: Spread): void {
	let done = 0;
	let at = 0;
	while (done < pixels && at < segment.length) {
		const control = segment[at++] ?? 0;
		if (control === 128) continue;
		const isRun = control > 128;
		const length = Math.min(isRun ? 257 - control : control + 1, pixels - done);
		if (at + (isRun ? 1 : length) > segment.length) throw broken();
		for (let index = 0; index < length; index++) plane[(done + index) * step + place] = segment[isRun ? at : at + index] ?? 0;
		at += isRun ? 1 : control + 1;
		done += length;
	}
	if (done < pixels) throw broken();
}
