import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
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

/** The page in a folder that holds what was compiled. */
export const pageName = 'index.html';

/** Reads what was compiled from the folder into which it was written. */
export async function readBuilt(folder: string): Promise<CompiledConsole> {
	const html = await readFile(join(folder, pageName), 'utf8');
	const names = (await readdir(join(folder, 'assets'))).filter((name) => !/\.(?:br|gz)$/.test(name));
	const files = names.map(async (name): Promise<[string, ConsoleFile]> => {
		const path = join(folder, 'assets', name);
		const [plain, br, gzip] = await Promise.all([readFile(path), readFile(`${path}.br`), readFile(`${path}.gz`)]);
		return [`/assets/${name}`, { contentType: contentTypeOf(name), plain, br, gzip }];
	});
	return { html, files: new Map(await Promise.all(files)) };
}
