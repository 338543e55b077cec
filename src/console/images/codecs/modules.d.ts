/** Coders of Cornerstone, which are compiled C++. A package states no types. */
interface FrameInfo {
	width: number;
	height: number;
	bitsPerSample: number;
	componentCount: number;
	isSigned?: boolean;
}

interface FrameDecoder {
	getEncodedBuffer(length: number): Uint8Array;
	decode(): void;
	getFrameInfo(): FrameInfo;
	getDecodedBuffer(): Uint8Array;
	/** 0: by plane, 1: by line, 2: by pixel. */
	getInterleaveMode?(): number;
	delete(): void;
}

interface LoadOptions {
	locateFile(): string;
	print(text: string): void;
	printErr(text: string): void;
}

declare module '@cornerstonejs/codec-openjpeg/decodewasmjs' {
	const load: (options: LoadOptions) => Promise<{ J2KDecoder: new () => FrameDecoder }>;
	export default load;
}

declare module '@cornerstonejs/codec-charls/decodewasmjs' {
	const load: (options: LoadOptions) => Promise<{ JpegLSDecoder: new () => FrameDecoder }>;
	export default load;
}

declare module '@cornerstonejs/codec-libjpeg-turbo-8bit/decodewasmjs' {
	const load: (options: LoadOptions) => Promise<{ JPEGDecoder: new () => FrameDecoder }>;
	export default load;
}

declare module '@cornerstonejs/codec-openjph/wasmjs' {
	const load: (options: LoadOptions) => Promise<{ HTJ2KDecoder: new () => FrameDecoder }>;
	export default load;
}

declare module '@cornerstonejs/*/decodewasm' {
	const address: string;
	export default address;
}

declare module '@cornerstonejs/codec-openjph/wasm' {
	const address: string;
	export default address;
}

declare module 'jpeg-lossless-decoder-js' {
	export class Decoder {
		readonly frame: { precision: number; dimX: number; dimY: number; numComp: number };
		decode(buffer: ArrayBuffer, offset: number, length: number): Uint8Array | Uint16Array;
	}
}
