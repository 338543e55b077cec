import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type BuildResult, build, type Metafile, stop } from 'esbuild';
import { type CompiledConsole, type ConsoleFile, compressed } from './coded-file.ts';

/** Matches the references of the page to its own files: `src="main.tsx"`, `href="main.css"`. */
const reference = /\b(src|href)="((?![/#]|\w+:)[^"]+)"/g;

/**
 * Bundles what an index.html loads for browsers, minified, and names each file after its content. Rejects when something does not compile.
 */
export async function compileConsole(path: string): Promise<CompiledConsole> {
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
	const { html, files } = await compileConsole(index);
	await mkdir(join(folder, 'assets'), { recursive: true });
	await writeFile(join(folder, 'index.html'), html);
	for (const [path, { plain, br, gzip }] of files) {
		await writeFile(join(folder, path), plain);
		await writeFile(join(folder, `${path}.br`), br);
		await writeFile(join(folder, `${path}.gz`), gzip);
	}
}
