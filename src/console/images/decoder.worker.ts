import type { Decoded } from './codecs/decoded.ts';
import { decodeRle } from './codecs/rle.ts';
import { codecs, type DecodeAnswer, type DecodeRequest } from './decoding.ts';
import type { PixelShape } from './pixels.ts';

type Decode = (bytes: Uint8Array) => Decoded;

/** Each codec is loaded when the first frame needs it. */
const loaders: Readonly<Record<Exclude<(typeof codecs)[string], 'rle'>, () => Promise<Decode>>> = {
	jpeg: async () => (await import('./codecs/codec-jpeg.ts')).decoder(),
	'jpeg-lossless': async () => (await import('./codecs/codec-jpeg-lossless.ts')).decoder(),
	'jpeg-ls': async () => (await import('./codecs/codec-jpegls.ts')).decoder(),
	'jpeg-2000': async () => (await import('./codecs/codec-jpeg2000.ts')).decoder(),
	'ht-jpeg-2000': async () => (await import('./codecs/codec-htj2k.ts')).decoder(),
};
const loaded = new Map<string, Promise<Decode>>();

async function decoded({ bytes, transferSyntaxUid, shape }: DecodeRequest): Promise<Decoded> {
	const codec = codecs[transferSyntaxUid];
	if (codec === undefined) throw new Error('no codec');
	const encoded = new Uint8Array(bytes);
	if (codec === 'rle') return decodeRle(encoded, shape);
	const loading = loaded.get(codec) ?? loaders[codec]();
	loaded.set(codec, loading);
	// After a failure the codec is loaded anew, because it may have left something behind.
	return (await loading)(encoded);
}

/** Returns the shape of the decoded samples, which may differ from that of the stored ones. */
function shapeOf(given: PixelShape, { rows, columns, samples, bits, isPlanar, isRgb, isSigned = false }: Decoded): PixelShape {
	if (rows !== given.rows || columns !== given.columns || samples !== given.samples)
		throw new Error('another image than its attributes say');
	const photometric = isRgb && samples === 3 ? 'RGB' : given.photometric;
	const stored = Math.min(given.bits_stored, bits);
	const signed = given.signed || (isSigned && samples === 1);
	return { ...given, bits_allocated: bits, bits_stored: stored, signed, planar: isPlanar, photometric, big_endian: false };
}

async function answerTo(request: DecodeRequest): Promise<void> {
	let answer: DecodeAnswer;
	try {
		const result = await decoded(request);
		answer = { id: request.id, bytes: result.bytes, shape: shapeOf(request.shape, result) };
	} catch {
		loaded.delete(codecs[request.transferSyntaxUid] ?? '');
		answer = { id: request.id, trouble: 'The compressed image cannot be decoded in the browser.' };
	}
	postMessage(answer, 'bytes' in answer ? { transfer: [answer.bytes] } : {});
}

/** One frame after the other: a codec has one memory. */
let turn = Promise.resolve();
addEventListener('message', ({ data }: MessageEvent<DecodeRequest>) => {
	turn = turn.then(() => answerTo(data));
});
