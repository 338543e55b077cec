import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** A coder of the codecs of Cornerstone: compiled C++ that works on memory of its own. */
export interface Coder {
	delete(): void;
}

export interface FrameInfo {
	width: number;
	height: number;
	bitsPerSample: number;
	componentCount: number;
	isSigned?: boolean;
}

export interface FrameDecoder extends Coder {
	getEncodedBuffer(length: number): Uint8Array;
	decode(): void;
	getFrameInfo(): FrameInfo;
	getDecodedBuffer(): Uint8Array;
}

export interface JpegLsDecoder extends FrameDecoder {
	/** 0: by plane, 1: by line, 2: by pixel. */
	getInterleaveMode(): number;
}

/** The decoder of each package. */
export interface CodecPackages {
	'codec-libjpeg-turbo-8bit': { JPEGDecoder: new () => FrameDecoder };
	'codec-charls': { JpegLSDecoder: new () => JpegLsDecoder };
	'codec-openjpeg': { J2KDecoder: new () => FrameDecoder };
	'codec-openjph': { HTJ2KDecoder: new () => FrameDecoder };
}

export type CodecName = keyof CodecPackages;

/** The files of each package: the loader, and the compiled code that it is given. */
const files: Readonly<Record<CodecName, readonly [loader: string, compiled: string]>> = {
	'codec-libjpeg-turbo-8bit': ['decodewasmjs', 'decodewasm'],
	'codec-charls': ['decodewasmjs', 'decodewasm'],
	'codec-openjpeg': ['decodewasmjs', 'decodewasm'],
	'codec-openjph': ['wasmjs', 'wasm'],
};

type Loader = (options: { wasmBinary: Uint8Array; print(text: string): void; printErr(text: string): void }) => Promise<unknown>;

const require = createRequire(import.meta.url);
const loaded = new Map<CodecName, Promise<unknown>>();

/** Codecs write about the streams that they are given; what is wrong with one is told by the exception. */
const silent = (): void => undefined;

/** Loads a codec from the installed package; nothing is fetched. */
export function codec<N extends CodecName>(name: N): Promise<CodecPackages[N]> {
	let module = loaded.get(name);
	if (module === undefined) {
		const [loader, compiled] = files[name];
		const load = require(`@cornerstonejs/${name}/${loader}`) as Loader;
		const wasmBinary = readFileSync(require.resolve(`@cornerstonejs/${name}/${compiled}`));
		module = load({ wasmBinary, print: silent, printErr: silent });
		loaded.set(name, module);
	}
	return module as Promise<CodecPackages[N]>;
}

/** Has the next use begin with fresh memory: a codec that failed may have left something behind. */
export function forget(name: CodecName): void {
	loaded.delete(name);
}

interface LosslessDecoder {
	decompress(stream: ArrayBufferLike, offset: number, length: number): ArrayBuffer;
}

/** The decoder of lossless JPEG, which is plain JavaScript. */
export function losslessDecoder(): LosslessDecoder {
	const { Decoder } = require('jpeg-lossless-decoder-js') as { Decoder: new () => LosslessDecoder };
	return new Decoder();
}
