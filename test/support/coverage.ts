import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import type { Outcome } from './outcomes.ts';

/** How much of the product the tests run that need no database: measured without a loader, so that lines are those of the source. */

const root = join(import.meta.dirname, '../..');
const floorPath = join(root, 'test/coverage.json');
/** So far may a change stay below what was measured last: what it moves and renames shifts the figures a little. */
const slack = 0.5;

export interface Coverage {
	/** Lines of all files with code, also of those that no test loads. */
	lines: number;
	/** Branches of the files that are loaded: what is never loaded tells of none. */
	branches: number;
}

/** What the browser runs is left out: tests in a browser run it. */
const measured = ['src/**/*.ts', 'workers/**/*.ts'];
const leftOut = ['src/console/**', 'src/demo/**'];

export function coverageOf(files: (Outcome & { kind: 'covered' })[]): Coverage {
	const loaded = new Map(files.map((file) => [file.file, file]));
	const totals = { lines: 0, coveredLines: 0, branches: 0, coveredBranches: 0 };
	for (const path of globSync(measured, { cwd: root, exclude: leftOut })) {
		const file = loaded.get(path);
		totals.lines += file?.lines ?? linesOf(readFileSync(join(root, path), 'utf8'));
		totals.coveredLines += file?.coveredLines ?? 0;
		totals.branches += file?.branches ?? 0;
		totals.coveredBranches += file?.coveredBranches ?? 0;
	}
	return { lines: percent(totals.coveredLines, totals.lines), branches: percent(totals.coveredBranches, totals.branches) };
}

/** None where a file has only types: nothing of it is ever loaded. */
export function linesOf(text: string): number {
	const code = stripTypeScriptTypes(text)
		.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
		.replace(/^\s*(import|export)\s*(\{\s*\})?\s*(from)?\s*('[^']*')?;?$/gm, '');
	return code.trim() === '' ? 0 : text.split('\n').length - 1;
}

function percent(part: number, whole: number): number {
	return whole === 0 ? 100 : Math.floor((part / whole) * 1000) / 10;
}

/** Prints what was measured beside the least that test/coverage.json asks for; whether it is enough. */
export function holdsFloor(coverage: Coverage, raise: boolean): boolean {
	const floor = JSON.parse(readFileSync(floorPath, 'utf8')) as Coverage;
	let holds = true;
	for (const name of ['lines', 'branches'] as const) {
		console.log(`coverage of ${name}: ${coverage[name]} %, at least ${floor[name]} %`);
		if (coverage[name] < floor[name]) holds = false;
	}
	if (raise) {
		const raised = (name: keyof Coverage) => Math.max(floor[name], Math.floor((coverage[name] - slack) * 10) / 10);
		writeFileSync(floorPath, `${JSON.stringify({ lines: raised('lines'), branches: raised('branches') })}\n`);
	}
	return holds;
}
