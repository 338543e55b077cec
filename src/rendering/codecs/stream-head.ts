import { NoPicture } from '../picture.ts';
import type { PixelShape } from '../shape.ts';

/** A compressed stream says this of itself before its first sample. */
export interface StreamHead {
	rows: number;
	columns: number;
	samples: number;
	/** Bits of a sample. */
	precision: number;
	/** JPEG 2000: its samples are signed. Other streams do not say so. */
	isSigned: boolean;
	/** JPEG: the marker of the frame, which tells the process; otherwise 0. */
	marker: number;
	/** JPEG: the colour transform that an Adobe marker states. */
	transform: number | undefined;
}

const startOfImage = 0xff_d8;
const startOfScan = 0xff_da;
const adobe = 0xff_ee;
/** SOI and SIZ of JPEG 2000, with which a codestream begins (ISO/IEC 15444-1 §A.4). */
const codestream = Buffer.from('ff4fff51', 'hex');
/** Some writers put the boxes of a JP2 file before the codestream. */
const boxesMax = 4096;

function broken(): NoPicture {
	return new NoPicture('the pixel data does not begin as its transfer syntax says');
}

/** Tells the marker of a frame from those of tables and of arithmetic conditioning (ISO/IEC 10918-1 Table B.1, ISO/IEC 14495-1 §C.1.1). */
function isFrameMarker(marker: number): boolean {
	return marker === 0xff_f7 || (marker >= 0xff_c0 && marker <= 0xff_cf && ![0xff_c4, 0xff_c8, 0xff_cc].includes(marker));
}

/** Reads the frame header of JPEG or JPEG-LS. @throws NoPicture */
export function jpegHead(bytes: Uint8Array): StreamHead {
	const stream = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	if (stream.length < 4 || stream.readUInt16BE(0) !== startOfImage) throw broken();
	let transform: number | undefined;
	for (let at = 2; at + 10 <= stream.length; ) {
		const marker = stream.readUInt16BE(at);
		if (marker === 0xff_ff) {
			at += 1;
			continue;
		}
		if (marker < 0xff_01 || marker === startOfScan) throw broken();
		const length = stream.readUInt16BE(at + 2);
		if (marker === adobe && length >= 14 && stream.toString('latin1', at + 4, at + 9) === 'Adobe') transform = stream[at + 15];
		if (isFrameMarker(marker)) {
			const [precision = 0, samples = 0] = [stream[at + 4], stream[at + 9]];
			return {
				rows: stream.readUInt16BE(at + 5),
				columns: stream.readUInt16BE(at + 7),
				samples,
				precision,
				isSigned: false,
				marker,
				transform,
			};
		}
		at += 2 + length;
	}
	throw broken();
}

/** Reads the image and tile size of JPEG 2000 (ISO/IEC 15444-1 §A.5.1). @throws NoPicture */
export function jpeg2000Head(bytes: Uint8Array): StreamHead {
	const stream = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const at = stream.subarray(0, boxesMax).indexOf(codestream);
	if (at < 0 || stream.length < at + 43) throw broken();
	const columns = stream.readUInt32BE(at + 8) - stream.readUInt32BE(at + 16);
	const rows = stream.readUInt32BE(at + 12) - stream.readUInt32BE(at + 20);
	const samples = stream.readUInt16BE(at + 40);
	// Ssiz: the sign, and the bits less one.
	const size = stream[at + 42] ?? 0;
	return { rows, columns, samples, precision: (size & 0x7f) + 1, isSigned: size >> 7 === 1, marker: 0, transform: undefined };
}

/**
 * Refuses a stream that is another image than the data set says, before anything is reserved for it.
 * @throws NoPicture
 */
export function checkFits(head: StreamHead, shape: PixelShape): void {
	if (head.rows !== shape.rows || head.columns !== shape.columns || head.samples !== shape.samples) {
		throw new NoPicture('the compressed image has another size than Rows, Columns and Samples per Pixel say');
	}
	if (head.precision > 16) throw new NoPicture('compressed samples of more than 16 bits are not shown');
}
