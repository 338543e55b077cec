import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The result of a long run: docs/trust.md is made from those that are kept, one for each name. */
export interface ProofResult {
	proof: 'fault' | 'fuzz' | 'soak' | 'isolation' | 'cluster';
	startedAt: string;
	minutes: number;
	command: string;
	commit: string;
	machine: string;
	seed: number | null;
	passed: boolean;
	failures: string[];
	/** Counts by name. */
	figures: Record<string, number>;
	/** Rows that are printed too. */
	table: { head: string[]; rows: (string | number)[][] };
	/** Each thing that could not be done there, with the reason. */
	skipped: string[];
}

const kept = new URL('results/', import.meta.url);

function commitOf(): string {
	try {
		return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
	} catch {
		return 'unknown';
	}
}

/** The part of a result that is the same for every proof. */
export function circumstances(
	startedMs: number,
	command: string,
): Pick<ProofResult, 'startedAt' | 'minutes' | 'command' | 'commit' | 'machine'> {
	return {
		startedAt: new Date(startedMs).toISOString(),
		minutes: Number(((Date.now() - startedMs) / 60_000).toFixed(1)),
		command,
		commit: commitOf(),
		machine: `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.versions.node}`,
	};
}

export function writeResult(path: string, result: ProofResult): void {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, `${JSON.stringify(result, undefined, '\t')}\n`);
}

export function keepResult(name: string, result: ProofResult): void {
	writeResult(fileURLToPath(new URL(`${name}.json`, kept)), result);
}

/** Prints a result, writes it, keeps it if it passed and is wanted for docs/trust.md, and sets the exit code. */
export function conclude(result: ProofResult, { keep }: { keep: boolean }): void {
	printTable(result.table);
	for (const text of result.skipped) console.log(`skipped: ${text}`);
	for (const [name, value] of Object.entries(result.figures)) console.log(`${name}: ${value}`);
	for (const failure of result.failures) console.error(`FAILED: ${failure}`);
	writeResult(fileURLToPath(new URL(`build/${result.proof}.json`, import.meta.url)), result);
	if (keep && result.passed) keepResult(result.proof, result);
	process.exitCode = result.passed ? 0 : 1;
}

/** Prints the rows with columns as wide as their longest cell. */
export function printTable({ head, rows }: ProofResult['table']): void {
	const all = [head, ...rows.map((row) => row.map(String))];
	const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
	for (const row of all)
		console.log(
			row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  '),
		);
}

/** The kept results by their names. */
export function keptResults(): [name: string, result: ProofResult][] {
	if (!existsSync(kept)) return [];
	return readdirSync(kept)
		.filter((name) => name.endsWith('.json'))
		.sort()
		.map((name) => [name.replace('.json', ''), JSON.parse(readFileSync(new URL(name, kept), 'utf8')) as ProofResult]);
}
