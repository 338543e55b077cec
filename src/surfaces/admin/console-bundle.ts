import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type BuildResult, build, type Metafile, stop } from 'esbuild';
import { newId } from '#core/id.ts';
import { type CompiledConsole, type ConsoleFile, compressed, readBuilt } from './coded-file.ts';

/** Matches the references of the page to its own files: `src="main.tsx"`, `href="main.css"`. */
const reference = /\b(src|href)="((?![/#]|\w+:)[^"]+)"/g;

/**
 * Bundles what an index.html loads for browsers, minified, and names each file after its content. Rejects when something does not compile.
 */
export async function compileConsole(path: string): Promise<CompiledConsole> {
	return (await compileFrom(path)).compiled;
}

/** `read`: the files that went into it. */
async function compileFrom(path: string): Promise<{ compiled: CompiledConsole; read: string[] }> {
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
	return { compiled: { html: page, files }, read: [path, ...Object.keys(result.metafile.inputs).map((input) => join(folder, input))] };
}

/** Tells apart what a file was and what it is now, without reading it. */
interface FileState {
	mtimeMs: number;
	size: number;
}

/** Says where the result is, and of each file that went into it, by its path, how it was then. */
interface Kept {
	folder: string;
	states: Record<string, FileState>;
}

/** These say how it is compiled, and with which packages. */
const compilers = [import.meta.filename, join(import.meta.dirname, 'coded-file.ts')];

async function stateOf(path: string): Promise<FileState> {
	const { mtimeMs, size } = await stat(path);
	return { mtimeMs, size };
}

/**
 * As `compileConsole`, but keeps the result in a folder, and returns that as long as no file that went into it changes: to compile and to compress
 * takes three seconds of processor time at each start of a checkout. Where nothing can be kept it is compiled each time.
 */
export async function compileConsoleOnce(path: string, cache: string, packages: string): Promise<CompiledConsole> {
	const noted = join(cache, 'compiled.json');
	const kept = await readKept(noted).catch(() => undefined);
	if (kept !== undefined) return kept;
	const startMs = Date.now();
	const { compiled, read } = await compileFrom(path);
	const paths = [...read, ...compilers, packages];
	try {
		const states = Object.fromEntries(await Promise.all(paths.map(async (each) => [each, await stateOf(each)] as const)));
		// Nobody knows in which state a file was read that was changed meanwhile.
		const isStill = Object.values(states).every(({ mtimeMs }) => mtimeMs < startMs);
		if (isStill) await keep(noted, { folder: join(cache, `console-${newId()}`), states }, compiled);
	} catch {
		// The next start compiles it again.
	}
	return compiled;
}

/** Undefined, or an error, where it is not kept or is no longer what would be compiled. */
async function readKept(noted: string): Promise<CompiledConsole | undefined> {
	const { folder, states } = JSON.parse(await readFile(noted, 'utf8')) as Kept;
	for (const [path, state] of Object.entries(states)) if (!isDeepStrictEqual(await stateOf(path), state)) return undefined;
	return readBuilt(folder);
}

/** Several processes may do so at once; what is noted last stays, and others that read what was noted before compile it themselves. */
async function keep(noted: string, kept: Kept, compiled: CompiledConsole): Promise<void> {
	const before = await readFile(noted, 'utf8').then(
		(text) => (JSON.parse(text) as Kept).folder,
		() => undefined,
	);
	await writeCompiled(compiled, kept.folder);
	const whole = `${kept.folder}.json`;
	await writeFile(whole, JSON.stringify(kept));
	await rename(whole, noted);
	if (before !== undefined) await rm(before, { recursive: true, force: true });
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
			loader: { '.svg': 'copy', '.png': 'copy', '.woff2': 'copy', '.wasm': 'file' },
			// Codecs ask for them on Node.js only.
			external: ['fs', 'path'],
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

/** Writes what an index.html loads into a folder, in all content codings, for an installation without the bundler. */
export async function writeBuilt(index: string, folder: string): Promise<void> {
	await writeCompiled(await compileConsole(index), folder);
}

async function writeCompiled({ html, files }: CompiledConsole, folder: string): Promise<void> {
	await mkdir(join(folder, 'assets'), { recursive: true });
	await writeFile(join(folder, 'index.html'), html);
	for (const [path, { plain, br, gzip }] of files) {
		await writeFile(join(folder, path), plain);
		await writeFile(join(folder, `${path}.br`), br);
		await writeFile(join(folder, `${path}.gz`), gzip);
	}
}
