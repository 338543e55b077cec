import { spawnSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Comparison, Curve, Line, Result, UnitCost } from './result.ts';

const root = join(import.meta.dirname, '../..');

export function shortCommit(name = 'HEAD'): string {
	return spawnSync('git', ['rev-parse', '--short=8', name], { encoding: 'utf8', cwd: root }).stdout?.trim() || 'unknown';
}

export function machine(): string {
	return `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`;
}

/** The variables that change what is measured, as they stand before a command. */
export function givenVariables(environment: Readonly<Record<string, string | undefined>>): string {
	const told = Object.entries(environment).filter(([name]) =>
		/^(PROCESSES|WORKERS|BATCH_.*|(FHIR_|HTTP_)?BENCH_.*|COMPARE_.*)$/.test(name),
	);
	return told.map(([name, value]) => `${name}=${value} `).join('');
}

const ms = (value: number | null | undefined) =>
	value === null || value === undefined || Number.isNaN(value) ? '–' : value.toFixed(value < 10 ? 2 : 0);

/** `64 connections`, `at 500/s`, or nothing. */
export function loadOf({ connections, duePerSecond }: Pick<Line, 'connections' | 'duePerSecond'>): string {
	if (duePerSecond !== undefined) return `open loop at ${Math.round(duePerSecond)}/s`;
	return connections === undefined ? '' : `${connections} connection${connections === 1 ? '' : 's'}`;
}

/** Collects what benches measure, and prints it as it comes. */
export class Recorder {
	readonly lines: Line[] = [];
	readonly comparisons: Comparison[] = [];
	readonly curves: Curve[] = [];
	readonly unitCosts: UnitCost[] = [];
	readonly notes: string[] = [];
	/** These were answered or stored wrongly. Such a run fails. */
	readonly faults: string[] = [];
	database = 'none';
	readonly #startedAt = new Date();
	readonly #loadBefore = loadavg()[0] ?? 0;

	line(line: Line): void {
		this.lines.push(line);
		const spread = line.lowest === undefined ? '' : ` (${Math.round(line.lowest)}–${Math.round(line.highest ?? 0)})`;
		const parts = [
			line.work.padEnd(34),
			line.subject.padEnd(16),
			loadOf(line).padEnd(18),
			`${String(Math.round(line.perSecond)).padStart(7)}/s${spread}`,
			`p50 ${ms(line.p50Ms)} ms  p99 ${ms(line.p99Ms)} ms`,
			`[${line.driver}${line.saturated === undefined ? '' : `; limit: ${line.saturated}`}]`,
			...(line.failed > 0 ? [`${line.failed} FAILED`] : []),
			...(line.ledger === undefined ? [] : [line.ledger]),
		];
		console.log(parts.join('  '));
		if (line.failed > 0 && line.kind === 'product') this.fault(`${line.work}, ${loadOf(line)}: ${line.failed} failed`);
	}

	comparison(comparison: Comparison): void {
		this.comparisons.push(comparison);
		const { work, subject, base, perSecond, basePerSecond, ratio, ledger } = comparison;
		console.log(
			`${work.padEnd(36)} ${subject} ${Math.round(perSecond)}/s, ${base} ${Math.round(basePerSecond)}/s: ratio ${ratio.median.toFixed(3)} (${ratio.low.toFixed(3)}–${ratio.high.toFixed(3)})  ${ledger}`,
		);
	}

	curve(curve: Curve): void {
		this.curves.push(curve);
	}

	note(text: string): void {
		this.notes.push(text);
		console.log(text);
	}

	fault(text: string): void {
		this.faults.push(text);
		console.log(`WRONG: ${text}`);
	}

	result(command: string): Result {
		const { lines, comparisons, curves, unitCosts, notes, faults, database } = this;
		return {
			format: 1,
			startedAt: this.#startedAt.toISOString(),
			minutes: (Date.now() - this.#startedAt.getTime()) / 60_000,
			command,
			commit: shortCommit(),
			machine: machine(),
			node: process.versions.node,
			database,
			loadBefore: this.#loadBefore,
			lines,
			comparisons,
			curves,
			unitCosts,
			notes,
			faults,
		};
	}
}
