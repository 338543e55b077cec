import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin, stop } from 'esbuild';

const root = join(import.meta.dirname, '../..');
/** Packages are found from there, as they are from the sources. */
const cache = join(root, 'node_modules/.cache/tests');

/** Modules that read files beside them go on to do so, though they stand in one file with others. */
const ownAddresses: Plugin = {
	name: 'own addresses',
	setup: ({ onLoad }) => {
		onLoad({ filter: /\/(src|workers)\/.*\.ts$/ }, ({ path }) => {
			const text = readFileSync(path, 'utf8');
			if (!text.includes('import.meta.')) return undefined;
			const contents = text
				.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
				.replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
			return { contents, loader: 'ts' };
		});
	},
};

/**
 * Bundles each thread of `workers/`, and returns the folder that has them under their names. A test that starts a service starts threads, and to read
 * the five hundred modules of one takes a second of processor time; its bundle is read in a third.
 */
export async function bundleWorkers(): Promise<string> {
	const result = await build({
		absWorkingDir: root,
		entryPoints: readdirSync(join(root, 'workers')).map((name) => join('workers', name)),
		bundle: true,
		splitting: true,
		format: 'esm',
		platform: 'node',
		target: 'node22',
		packages: 'external',
		outdir: join(cache, 'workers'),
		outExtension: { '.js': '.mjs' },
		logLevel: 'warning',
		write: false,
		plugins: [ownAddresses],
	});
	await stop();
	const hash = createHash('sha256');
	for (const { path, contents } of result.outputFiles) hash.update(basename(path)).update(contents);
	const folder = join(cache, `workers-${hash.digest('hex').slice(0, 16)}`);
	mkdirSync(cache, { recursive: true });
	const made = mkdtempSync(`${folder}-`);
	for (const { path, contents } of result.outputFiles) writeFileSync(join(made, basename(path)), contents);
	try {
		renameSync(made, folder);
	} catch {
		// Another run made the same.
		rmSync(made, { recursive: true });
	}
	return folder;
}
