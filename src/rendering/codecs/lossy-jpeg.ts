import { NoPicture } from '../picture.ts';
import type { PixelShape } from '../shape.ts';
import { type Opened, opened } from './compiled.ts';
import { checkFits, jpegHead, type StreamHead } from './stream-head.ts';

/** Baseline, extended sequential and progressive, with Huffman codes (ISO/IEC 10918-1 Table B.1). */
const lossyMarkers: readonly number[] = [0xff_c0, 0xff_c1, 0xff_c2];

/** Decodes JPEG with loss, of 8 bits a sample; the result is grey or RGB. @throws NoPicture */
export async function decodeLossyJpeg(bytes: Uint8Array, shape: PixelShape): Promise<Opened> {
	const head = jpegHead(bytes);
	checkFits(head, shape);
	if (!lossyMarkers.includes(head.marker)) throw new NoPicture('the process of the JPEG stream is not that of its transfer syntax');
	if (head.precision !== 8) throw new NoPicture(`JPEG with loss and ${head.precision} bits a sample is not decoded`);
	const stream = shape.samples === 3 ? withTransform(bytes, transformOf(head, shape)) : bytes;
	const open = await opened('codec-libjpeg-turbo-8bit', ({ JPEGDecoder }) => new JPEGDecoder(), stream, { head, shape });
	return shape.samples === 3 ? { ...open, shape: { ...open.shape, photometric: 'RGB' } } : open;
}

/** The stream's own word counts; where it says nothing, the Photometric Interpretation does. 1: luminance and chrominance. */
function transformOf({ transform }: StreamHead, { photometric }: PixelShape): number {
	return transform ?? (photometric === 'RGB' ? 0 : 1);
}

const applicationMarkers: readonly number[] = [0xff_e0, 0xff_ee];

/** Replaces what the stream says of its colours by an Adobe marker, because the library would guess otherwise. */
function withTransform(bytes: Uint8Array, transform: number): Uint8Array {
	const stream = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const pieces = [stream.subarray(0, 2), Buffer.from('ffee000e41646f626500640000000000', 'hex').subarray(0, 15), Buffer.from([transform])];
	let at = 2;
	while (at + 4 <= stream.length && stream[at] === 0xff && stream.readUInt16BE(at) >= 0xff_e0 && stream.readUInt16BE(at) <= 0xff_ef) {
		const end = at + 2 + stream.readUInt16BE(at + 2);
		if (!applicationMarkers.includes(stream.readUInt16BE(at))) pieces.push(stream.subarray(at, end));
		at = end;
	}
	return Buffer.concat([...pieces, stream.subarray(at)]);
}
