import { inflateRawSync } from 'node:zlib';
import { NoPicture } from '../picture.ts';
import type { PixelShape } from '../shape.ts';
import { type Opened, opened, openShape } from './compiled.ts';
import { joined, separateIntervals } from './lossless-intervals.ts';
import { losslessDecoder } from './modules.ts';
import { checkFits, jpeg2000Head, jpegHead } from './stream-head.ts';

/** Lossless, with Huffman codes (ISO/IEC 10918-1 Table B.1). */
const losslessMarker = 0xff_c3;
const jpegLsMarker = 0xff_f7;

/** @throws NoPicture */
export async function decodeLosslessJpeg(bytes: Uint8Array, shape: PixelShape): Promise<Opened> {
	const head = jpegHead(bytes);
	checkFits(head, shape);
	if (head.marker !== losslessMarker) throw new NoPicture('the process of the JPEG stream is not that of its transfer syntax');
	if (head.samples === 3 && head.precision > 8)
		throw new NoPicture('lossless JPEG in colour with more than 8 bits a sample is not decoded');
	const length = head.rows * head.columns * head.samples * (head.precision > 8 ? 2 : 1);
	try {
		const decoder = losslessDecoder();
		const rows = separateIntervals(bytes).map((stream) => new Uint8Array(decoder.decompress(stream.buffer, 0, stream.length)));
		const samples = joined(rows);
		if (samples.length === length) return { bytes: samples, shape: openShape(shape, head.precision), layout: 'by-pixel' };
	} catch {
		throw new NoPicture('the compressed image is broken: it cannot be decoded');
	}
	throw new NoPicture('the compressed image is not the one that its head announces');
}

/** @throws NoPicture */
export async function decodeJpegLs(bytes: Uint8Array, shape: PixelShape): Promise<Opened> {
	const head = jpegHead(bytes);
	checkFits(head, shape);
	if (head.marker !== jpegLsMarker) throw new NoPicture('the pixel data is not JPEG-LS, as its transfer syntax says');
	return opened('codec-charls', ({ JpegLSDecoder }) => new JpegLSDecoder(), bytes, {
		head,
		shape,
		// Planes of a scan each are opened as planes (ISO/IEC 14495-1 §C.2.3).
		layoutOf: (decoder) => (decoder.getInterleaveMode() === 0 ? 'by-plane' : 'by-pixel'),
	});
}

/** @throws NoPicture */
export async function decodeJpeg2000(bytes: Uint8Array, shape: PixelShape): Promise<Opened> {
	const head = jpeg2000Head(bytes);
	checkFits(head, shape);
	const open = await opened('codec-openjpeg', ({ J2KDecoder }) => new J2KDecoder(), bytes, { head, shape });
	return { ...open, shape: withoutTransform(open.shape) };
}

/** @throws NoPicture */
export async function decodeHtj2k(bytes: Uint8Array, shape: PixelShape): Promise<Opened> {
	const head = jpeg2000Head(bytes);
	checkFits(head, shape);
	const open = await opened('codec-openjph', ({ HTJ2KDecoder }) => new HTJ2KDecoder(), bytes, { head, shape });
	return { ...open, shape: withoutTransform(open.shape) };
}

/** The codec undoes the component transforms of JPEG 2000 (PS3.3 §C.7.6.3.1.2). */
function withoutTransform(shape: PixelShape): PixelShape {
	const isTransformed = shape.photometric === 'YBR_RCT' || shape.photometric === 'YBR_ICT';
	return isTransformed ? { ...shape, photometric: 'RGB' } : shape;
}

/** Deflated Image Frame Compression (PS3.5 §A.4.13). @throws NoPicture */
export async function inflateFrame(bytes: Uint8Array, shape: PixelShape): Promise<Opened> {
	const { rows, columns, samples, bitsAllocated, isPlanar } = shape;
	const length = Math.ceil((rows * columns * samples * bitsAllocated) / 8);
	try {
		// One byte more may make the length even.
		const open = inflateRawSync(bytes, { maxOutputLength: length + 1 });
		return { bytes: open, shape, layout: isPlanar ? 'by-plane' : 'by-pixel' };
	} catch {
		throw new NoPicture('the deflated frame is broken, or longer than its image');
	}
}
