import { Decoder } from 'jpeg-lossless-decoder-js';
import type { Decoded } from './decoded.ts';

/** Decodes frames of lossless JPEG (process 14). */
export async function decoder() {
	return (bytes: Uint8Array): Decoded => {
		const lossless = new Decoder();
		const samples = lossless.decode(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
		const { frame } = lossless;
		const bits = frame.precision > 8 ? 16 : 8;
		// The decoder gives words where a sample has a byte.
		const buffer =
			bits === 8 ? Uint8Array.from(samples).buffer : samples.buffer.slice(samples.byteOffset, samples.byteOffset + samples.byteLength);
		return {
			bytes: buffer as ArrayBuffer,
			rows: frame.dimY,
			columns: frame.dimX,
			samples: frame.numComp,
			bits,
			isPlanar: false,
			isRgb: false,
		};
	};
}
