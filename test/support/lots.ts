import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The test files that one process runs, one after the other. */
export type Lot = readonly string[];

/** More would save little, because the product is compiled once a process, and would end the run with one process at work. */
const filesMax = 14;

/** Deals files out, so that neighbours, which often take equally long, come into different lots. `processes` run at once. */
export function lotsOf(paths: readonly string[], processes: number): Lot[] {
	const count = Math.max(Math.ceil(paths.length / filesMax), Math.min(paths.length, processes));
	return Array.from({ length: count }, (_, lot) => paths.filter((_, index) => index % count === lot));
}

/** The hooks of a file have so much longer than its tests: node:test does not apply its time limit to them. */
const hooksMsMax = 60_000;

/**
 * A module that runs the files of a lot. Each stands in a suite that bears its path, to which its own hooks and its time limit apply. The
 * process is kept until all have ended, as the surfaces keep a service: what never comes about then fails by that limit, and by its name. If it is
 * a hook that never ends, the process does, so that the other files can be run again.
 */
export function moduleOf(lot: Lot, root: string, timeoutMs: number): string {
	const suites = lot.map((path) => {
		const url = pathToFileURL(join(root, path)).href;
		const begin = `before(() => begin(${JSON.stringify(path)}));`;
		return `describe(${JSON.stringify(path)}, { timeout: ${timeoutMs} }, async () => { ${begin} await import(${JSON.stringify(url)}); });`;
	});
	return [
		"import { after, before, describe } from 'node:test';",
		"let current = '';",
		'let sinceMs = Date.now();',
		'const begin = (file) => { current = file; sinceMs = Date.now(); };',
		'const kept = setInterval(() => {',
		`	if (Date.now() - sinceMs < ${timeoutMs + hooksMsMax}) return;`,
		"	console.error(current + ' does not end: a hook of it waits for what never comes about');",
		'	process.exit(1);',
		'}, 5000);',
		'after(() => clearInterval(kept));',
		...suites,
		'',
	].join('\n');
}
