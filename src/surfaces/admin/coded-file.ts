import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** A file of the console as it is served, in the content codings that browsers accept. */
export interface ConsoleFile {
	contentType: string;
	plain: Uint8Array;
	br: Buffer;
	gzip: Buffer;
}

/** A page and the files that it loads, bundled for browsers. */
export interface CompiledConsole {
	/** The page without its facts. */
	html: string;
	files: ReadonlyMap<string, ConsoleFile>;
}

const contentTypes: Readonly<Record<string, string>> = {
	js: 'text/javascript; charset=utf-8',
	css: 'text/css; charset=utf-8',
	svg: 'image/svg+xml',
	png: 'image/png',
	woff2: 'font/woff2',
	wasm: 'application/wasm',
};

const brotli = promisify<Uint8Array, object, Buffer>(brotliCompress);
const gzipped = promisify<Uint8Array, object, Buffer>(gzip);

/** Codes the bytes of a file in all codings. */
export async function compressed(name: string, plain: Uint8Array): Promise<ConsoleFile> {
	const [br, gz] = await Promise.all([
		brotli(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
		gzipped(plain, { level: constants.Z_BEST_COMPRESSION }),
	]);
	return { contentType: contentTypeOf(name), plain, br, gzip: gz };
}

export function contentTypeOf(name: string): string {
	return contentTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'text/html; charset=utf-8';
}
