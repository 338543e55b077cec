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

/**
 * A module that runs the files of a lot. Each stands in a suite that bears its path, to which its own hooks and its time limit apply. The
 * process is kept until all have ended, as the surfaces keep a service: what never comes about then fails by that limit, and by its name.
 */
export function moduleOf(lot: Lot, root: string, timeoutMs: number): string {
	const urlOf = (path: string) => JSON.stringify(pathToFileURL(join(root, path)).href);
	// In a file that runs alone it is to be named what fails.
	const isMany = lot.length > 1;
	const suites = lot.map((path) => {
		const file = `import(${urlOf(path)})`;
		return `describe(${JSON.stringify(path)}, { timeout: ${timeoutMs} }, async () => { await ${isMany ? `defined(${file})` : file}; });`;
	});
	return [
		...(isMany ? [`import { followNoMore } from ${urlOf('test/support/plain-promises.ts')};`] : []),
		"import { after, describe } from 'node:test';",
		'const kept = setInterval(() => undefined, 60_000);',
		'after(() => clearInterval(kept));',
		...(isMany ? untilDefined(lot.length) : []),
		...suites,
		'',
	].join('\n');
}

function untilDefined(count: number): string[] {
	return [
		`let left = ${count};`,
		'const defined = async (file) => {',
		'	try {',
		'		await file;',
		'	} finally {',
		'		if (--left === 0) followNoMore();',
		'	}',
		'};',
	];
}
