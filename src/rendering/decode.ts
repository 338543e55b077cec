import { encodingOf } from '#dicom/transfer-syntax.ts';
import type { Opened } from './codecs/compiled.ts';
import { decodeLossyJpeg } from './codecs/lossy-jpeg.ts';
import { decodeRle } from './codecs/rle.ts';
import { decodeHtj2k, decodeJpeg2000, decodeJpegLs, decodeLosslessJpeg, inflateFrame } from './codecs/streams.ts';
import type { ColourLayout } from './colour.ts';
import { NoPicture } from './picture.ts';
import type { Frame } from './samples.ts';
import type { PixelShape } from './shape.ts';
import type { RenderingTask } from './task.ts';

/** A frame whose samples lie open, and the shape that they have now. */
export interface Decoded {
	frame: Frame;
	shape: PixelShape;
	layout: ColourLayout;
}

type Decode = (bytes: Uint8Array, shape: PixelShape) => Promise<Opened>;

const rle: Decode = async (bytes, shape) => ({ bytes: decodeRle(bytes, shape), shape, layout: 'by-plane' });
const asTheyAre: Decode = async (bytes, shape) => ({ bytes, shape, layout: shape.isPlanar ? 'by-plane' : 'by-pixel' });

/** The keys are transfer syntaxes (PS3.5 §A.4). */
const decoders: ReadonlyMap<string, Decode> = new Map([
	['1.2.840.10008.1.2.1.98', asTheyAre],
	['1.2.840.10008.1.2.4.50', decodeLossyJpeg],
	['1.2.840.10008.1.2.4.51', decodeLossyJpeg],
	['1.2.840.10008.1.2.4.57', decodeLosslessJpeg],
	['1.2.840.10008.1.2.4.70', decodeLosslessJpeg],
	['1.2.840.10008.1.2.4.80', decodeJpegLs],
	['1.2.840.10008.1.2.4.81', decodeJpegLs],
	['1.2.840.10008.1.2.4.90', decodeJpeg2000],
	['1.2.840.10008.1.2.4.91', decodeJpeg2000],
	['1.2.840.10008.1.2.4.201', decodeHtj2k],
	['1.2.840.10008.1.2.4.202', decodeHtj2k],
	['1.2.840.10008.1.2.4.203', decodeHtj2k],
	['1.2.840.10008.1.2.5', rle],
	['1.2.840.10008.1.2.8.1', inflateFrame],
]);

/** GE's private syntax: the data set is in little endian, its pixel data in big endian. */
const pixelsInBigEndian = '1.2.840.113619.5.2';

/** @throws NoPicture when the transfer syntax is not decoded, or the pixel data is not what it and the elements say */
export async function decoded(task: RenderingTask, shape: PixelShape): Promise<Decoded> {
	const { transferSyntaxUid, bytes, isEncapsulated, bitOffset, isFloat } = task;
	const layout = shape.isPlanar ? 'by-plane' : 'by-pixel';
	if (!isEncapsulated) {
		const littleEndian = encodingOf(transferSyntaxUid).littleEndian && transferSyntaxUid !== pixelsInBigEndian;
		return { frame: { bytes, littleEndian, bitOffset, isFloat }, shape, layout };
	}
	const decode = decoders.get(transferSyntaxUid);
	if (decode === undefined) throw new NoPicture('the transfer syntax of the image is not decoded');
	const { bytes: open, ...rest } = await decode(bytes, shape);
	return { frame: { bytes: open, littleEndian: true, bitOffset: 0, isFloat: false }, ...rest };
}
