import { Decoder } from 'jpeg-lossless-decoder-js';
import type { Decoded } from './decoded.ts';
import { joined, separateIntervals } from './lossless-intervals.ts';

/** Decodes frames of lossless JPEG (process 14). */
export async function decoder() {
	return (bytes: Uint8Array): Decoded => {
		const lossless = new Decoder();
		const rows = separateIntervals(bytes).map((stream) => lossless.decode(stream.buffer as ArrayBuffer, 0, stream.length));
		const { frame } = lossless;
		const bits = frame.precision > 8 ? 16 : 8;
		// The decoder gives words where a sample has a byte.
		const samples = joined(
			rows.map((part) => (bits === 8 ? Uint8Array.from(part) : new Uint8Array(part.buffer, part.byteOffset, part.byteLength))),
		);
		const samplesOfRow = frame.dimX * frame.numComp * (bits / 8);
		return {
			bytes: samples.buffer,
			rows: samples.length / samplesOfRow,
			columns: frame.dimX,
			samples: frame.numComp,
			bits,
			isPlanar: false,
			isRgb: false,
		};
	};
}
