import type { ColourLayout } from '../colour.ts';
import { NoPicture } from '../picture.ts';
import type { PixelShape } from '../shape.ts';
import { type CodecName, type CodecPackages, codec, type FrameDecoder, forget } from './modules.ts';
import type { StreamHead } from './stream-head.ts';

/** Samples that lie open, in little endian, with the shape that they have now. */
export interface Opened {
	bytes: Uint8Array;
	shape: PixelShape;
	layout: ColourLayout;
}

/**
 * Returns the shape of samples behind a decoder: each in one byte or two, with the bits that the stream and the data set agree on. Samples that the stream
 * calls signed are so whatever Pixel Representation says, which has to agree (PS3.5 §8.2). Others may still be: writers hide the sign from the
 * encoder, and JPEG knows none.
 */
export function openShape(shape: PixelShape, precision: number, isSigned = false): PixelShape {
	const bitsStored = Math.min(shape.bitsStored, precision);
	const bitsAllocated = precision > 8 ? 16 : 8;
	return { ...shape, bitsAllocated, bitsStored, highBit: bitsStored - 1, isSigned: (isSigned && shape.samples === 1) || shape.isSigned };
}

/**
 * Decodes a stream by a compiled codec.
 * @param head what the stream says of itself, which was compared with the data set
 * @throws NoPicture when the codec refuses the stream, or opens another image than its head says
 */
export async function opened<N extends CodecName, D extends FrameDecoder>(
	name: N,
	decoderOf: (module: CodecPackages[N]) => D,
	bytes: Uint8Array,
	{ head, shape, layoutOf = () => 'by-pixel' }: { head: StreamHead; shape: PixelShape; layoutOf?: (decoder: D) => ColourLayout },
): Promise<Opened> {
	const decoder = decoderOf(await codec(name));
	try {
		decoder.getEncodedBuffer(bytes.length).set(bytes);
		decoder.decode();
		const { width, height, componentCount } = decoder.getFrameInfo();
		const isSame = width === head.columns && height === head.rows && componentCount === head.samples;
		const length = width * height * componentCount * (head.precision > 8 ? 2 : 1);
		const samples = decoder.getDecodedBuffer();
		if (!isSame || samples.length < length) throw new NoPicture('the compressed image is not the one that its head announces');
		const open = {
			bytes: Uint8Array.from(samples.subarray(0, length)),
			shape: openShape(shape, head.precision, head.isSigned),
			layout: layoutOf(decoder),
		};
		decoder.delete();
		return open;
	} catch (error) {
		// A codec that failed may have left its memory in any state, so nobody uses it again.
		forget(name);
		if (error instanceof NoPicture) throw error;
		throw new NoPicture('the compressed image is broken: it cannot be decoded');
	}
}
