import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** Imports as the source text states them. Paths start at the root of the repository. */

const root = join(import.meta.dirname, '../..');

export interface Import {
	from: string;
	specifier: string;
	/** The file that is meant; undefined for a package. */
	to: string | undefined;
	/** It takes types only: nothing of it is loaded. */
	isType: boolean;
}

/** The text without what stands in comments. */
export function codeOf(path: string): string {
	return readFileSync(join(root, path), 'utf8')
		.replace(/\/\*[\s\S]*?\*\//g, '')
		.replace(/^\s*\/\/.*$/gm, '');
}

const statement = /(?:^(?:import|export) (type )?([^;'"]*?)from|\bimport\(|^import|new URL\()\s*'([^']+)'/gm;

export function importsOf(path: string): Import[] {
	return [...codeOf(path).matchAll(statement)].map(([, type, names = '', specifier = '']) => ({
		from: path,
		specifier,
		to: target(path, specifier),
		isType: type !== undefined || /^\{(\s*type [^,}]*,?)+\s*\}\s*$/.test(names),
	}));
}

function target(from: string, specifier: string): string | undefined {
	if (specifier.startsWith('#test/')) return specifier.slice(1);
	if (specifier.startsWith('#')) return `src/${specifier.slice(1)}`;
	return specifier.startsWith('.') ? posix.join(dirname(from), specifier) : undefined;
}

/** Files that reach each other by their imports, those of types included (Tarjan's strongly connected components). */
export function circlesOf(imports: readonly Import[]): string[][] {
	const targets = Map.groupBy(imports, ({ from }) => from);
	const visits = new Map<string, { order: number; lowest: number; waits: boolean }>();
	const waiting: string[] = [];
	const circles: string[][] = [];
	const visit = (path: string) => {
		const own = { order: visits.size, lowest: visits.size, waits: true };
		visits.set(path, own);
		waiting.push(path);
		for (const { to } of targets.get(path) ?? []) {
			if (to === undefined || !targets.has(to)) continue;
			const other = visits.get(to) ?? visit(to);
			if (other.waits) own.lowest = Math.min(own.lowest, other.lowest);
		}
		if (own.lowest === own.order) {
			const circle = waiting.splice(waiting.indexOf(path));
			for (const member of circle) Object.assign(visits.get(member) ?? {}, { waits: false });
			if (circle.length > 1) circles.push(circle.sort());
		}
		return own;
	};
	for (const path of targets.keys()) if (!visits.has(path)) visit(path);
	return circles.sort();
}

/** What a test file loads of the tests' own files, itself included, and what these load directly of the product. */
function loadedBy(path: string): Set<string> {
	const loaded = new Set<string>();
	const waiting = [path];
	for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
		if (loaded.has(next)) continue;
		loaded.add(next);
		if (!next.startsWith('test/') || !next.endsWith('.ts') || !existsSync(join(root, next))) continue;
		for (const { to, isType } of importsOf(next)) if (to !== undefined && !isType) waiting.push(to);
	}
	return loaded;
}

/** This makes the databases of tests, on the server that test/run.mjs starts. */
const databaseFile = 'test/support/database.ts';
/** These start a server or the whole service by themselves. */
const ownServers = ['test/support/service-process.ts', 'src/storage/embedded/embedded-database.ts'];

export function usesDatabase(path: string): boolean {
	return loadedBy(path).has(databaseFile);
}

/** It needs no database, neither the runner's nor one of its own. */
export function isPure(path: string): boolean {
	const loaded = loadedBy(path);
	return ![databaseFile, ...ownServers].some((file) => loaded.has(file));
}
