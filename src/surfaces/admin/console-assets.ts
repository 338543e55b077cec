import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type BuildResult, build, type Metafile, stop } from 'esbuild';

/** A file of the console as it is served, in the content codings that browsers accept. */
export interface ConsoleFile {
	contentType: string;
	plain: Uint8Array;
	br: Buffer;
	gzip: Buffer;
}

export interface ConsoleAssets {
	/** The page, which refers to the files by their final names. */
	page: ConsoleFile;
	/** Files by path, such as `/assets/main-3F2A61BC.js`. The name follows from the content. */
	files: ReadonlyMap<string, ConsoleFile>;
}

const contentTypes: Readonly<Record<string, string>> = {
	js: 'text/javascript; charset=utf-8',
	css: 'text/css; charset=utf-8',
	svg: 'image/svg+xml',
	png: 'image/png',
	woff2: 'font/woff2',
};

/** Matches the references of the page to its own files: `src="main.tsx"`, `href="main.css"`. */
const reference = /\b(src|href)="((?![/#]|\w+:)[^"]+)"/g;

/** Matches `<meta name="fhir-port" content="8080">`, which passes facts to the page. */
const meta = /<meta name="([^"]+)" content="[^"]*">/g;

/**
 * Bundles what an index.html loads (TypeScript with JSX, CSS, images) for browsers, minified, and names each file after its content.
 * `facts`: contents of meta elements, by name; letters, digits and commas. Rejects when something does not compile. Services of one
 * process share what was compiled.
 */
export async function bundleConsole(index: URL, facts: Readonly<Record<string, string>> = {}): Promise<ConsoleAssets> {
	const { html, files } = await compiledOnce(fileURLToPath(index));
	const page = html.replace(meta, (whole, name: string) => (name in facts ? `<meta name="${name}" content="${facts[name]}">` : whole));
	return { page: await compressed('index.html', Buffer.from(page)), files };
}

interface Compiled {
	/** The page without its facts. */
	html: string;
	files: ConsoleAssets['files'];
}

const compiled = new Map<string, Promise<Compiled>>();

function compiledOnce(path: string): Promise<Compiled> {
	const compiling = compiled.get(path) ?? compile(path);
	compiled.set(path, compiling);
	compiling.catch(() => compiled.delete(path));
	return compiling;
}

async function compile(path: string): Promise<Compiled> {
	const folder = dirname(path);
	const html = await readFile(path, 'utf8');
	const entryPoints = [...html.matchAll(reference)].map(([, , name = '']) => join(folder, name));
	const result = await bundle(folder, entryPoints);
	const files = new Map<string, ConsoleFile>();
	for (const { path: output, contents } of result.outputFiles) files.set(`/assets/${basename(output)}`, await compressed(output, contents));
	const named = entryNames(result.metafile);
	const page = html.replace(reference, (whole, attribute, name) => {
		const output = named.get(name);
		return output === undefined ? whole : `${attribute}="/assets/${output}"`;
	});
	return { html: page, files };
}

let underWay = 0;

async function bundle(
	folder: string,
	entryPoints: string[],
): Promise<BuildResult<{ metafile: true; write: false }> & { metafile: Metafile }> {
	underWay++;
	try {
		return await build({
			absWorkingDir: folder,
			entryPoints,
			bundle: true,
			minify: true,
			splitting: true,
			format: 'esm',
			target: 'es2022',
			// All settings are given here: an installation has no tsconfig.json.
			tsconfigRaw: {},
			jsx: 'automatic',
			jsxImportSource: 'preact',
			outdir: join(folder, 'assets'),
			publicPath: '/assets',
			entryNames: '[name]-[hash]',
			chunkNames: '[name]-[hash]',
			assetNames: '[name]-[hash]',
			loader: { '.svg': 'copy', '.png': 'copy', '.woff2': 'copy' },
			legalComments: 'none',
			logLevel: 'silent',
			metafile: true,
			write: false,
		});
	} finally {
		// The compiler runs as a process of its own and is not needed again.
		if (--underWay === 0) await stop();
	}
}

/** Maps each entry point to its output: `main.tsx` → `main-3F2A61BC.js`. */
function entryNames(metafile: Metafile): ReadonlyMap<string, string> {
	const names = new Map<string, string>();
	for (const [output, { entryPoint, inputs }] of Object.entries(metafile.outputs)) {
		const [onlyInput] = Object.keys(inputs);
		// A file that is copied unchanged has no entry point.
		const source = entryPoint ?? onlyInput;
		if (source !== undefined) names.set(source, basename(output));
	}
	return names;
}

const brotli = promisify<Uint8Array, object, Buffer>(brotliCompress);
const gzipped = promisify<Uint8Array, object, Buffer>(gzip);

async function compressed(name: string, plain: Uint8Array): Promise<ConsoleFile> {
	const contentType = contentTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'text/html; charset=utf-8';
	const [br, gz] = await Promise.all([
		brotli(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
		gzipped(plain, { level: constants.Z_BEST_COMPRESSION }),
	]);
	return { contentType, plain, br, gzip: gz };
}
