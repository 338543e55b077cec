import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

interface Encoder {
	getDecodedBuffer(info: ImageInfo): Uint8Array;
	/** JPEG-LS is without loss unless it is told otherwise. */
	setQuality?(isLossless: boolean, quality: number): void;
	encode(): void;
	getEncodedBuffer(): Uint8Array;
	delete(): void;
}

export interface ImageInfo {
	width: number;
	height: number;
	bitsPerSample: number;
	componentCount: number;
	isSigned: boolean;
	isUsingColorTransform?: boolean;
}

const require = createRequire(import.meta.url);

/** Encodes without loss, with the encoders of the packages whose decoders the service has. */
export async function encodedImage(codec: string, encoder: string, info: ImageInfo, bytes: Uint8Array): Promise<Uint8Array> {
	const load = require(`@cornerstonejs/${codec}/wasmjs`) as (options: object) => Promise<Record<string, new () => Encoder>>;
	const module = await load({ wasmBinary: readFileSync(require.resolve(`@cornerstonejs/${codec}/wasm`)), print: () => undefined });
	const Made = module[encoder];
	if (Made === undefined) throw new Error(`${codec} has no ${encoder}`);
	const own = new Made();
	own.getDecodedBuffer(info).set(bytes);
	own.setQuality?.(true, 0);
	own.encode();
	const stream = Uint8Array.from(own.getEncodedBuffer());
	own.delete();
	return stream;
}
