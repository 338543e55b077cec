import { type NeedName, needs } from './needs.ts';
import type { Outcome } from './outcomes.ts';

/** The end of a run: what was skipped, by reason, and which of it should not have been. */
export interface Summary {
	lines: string[];
	ok: boolean;
}

/** Reads the names in TRIBUTARY_EXPECT: what the machine is known to have, so that no test may be skipped for want of it. */
export function expectedOf(variable: string | undefined): NeedName[] {
	const names = (variable ?? '').split(',').filter((name) => name !== '');
	const unknown = names.filter((name) => !Object.hasOwn(needs, name));
	if (unknown.length > 0) throw new Error(`TRIBUTARY_EXPECT: ${unknown.join(', ')}: choose from ${Object.keys(needs).join(', ')}`);
	return names as NeedName[];
}

/** `files` are those that the run was given: one without an end was cut off with its process. */
export function summaryOf(outcomes: readonly Outcome[], expected: readonly NeedName[], files: readonly string[] = []): Summary {
	const byReason = Map.groupBy(
		outcomes.filter((outcome) => outcome.kind === 'skipped'),
		({ reason }) => reason,
	);
	const lines: string[] = [];
	let ok = true;
	for (const [reason, skipped] of [...byReason].sort()) {
		const name = expected.find((need) => needs[need].reason === reason);
		if (name !== undefined) ok = false;
		lines.push(`${name === undefined ? 'skipped' : 'FAILED, expected here but skipped'}: ${skipped.length} × ${reason}`);
		if (name !== undefined) for (const { file, test } of skipped) lines.push(`    ${file}: ${test}`);
	}
	for (const line of brokenOf(outcomes, files)) {
		ok = false;
		lines.push(line);
	}
	return { lines, ok };
}

function brokenOf(outcomes: readonly Outcome[], files: readonly string[]): string[] {
	const ended = new Set(outcomes.filter((outcome) => outcome.kind === 'file').map(({ file }) => file));
	const processes = outcomes.filter((outcome) => outcome.kind === 'process');
	return [
		...outcomes.filter((outcome) => outcome.kind === 'late').map(({ message }) => `FAILED after its test: ${message}`),
		...processes.map(({ lot, reason }) => `FAILED as a process: ${lot}, by ${reason}`),
		...(processes.length === 0 ? [] : files.filter((file) => !ended.has(file)).map((file) => `FAILED without an end: ${file}`)),
	];
}

/** If more files fail, that is no chance, and another run of them would only hide for a while what is broken. */
const againMax = 5;

/**
 * The files that are run once more, each alone, because they failed among others: those with a failed test, those that were cut off with their
 * process, and all of a process with an error that no test waited for. None where there are too many.
 */
export function againOf(outcomes: readonly Outcome[], lots: ReadonlyMap<string, readonly string[]>): string[] {
	const ended = outcomes.filter((outcome) => outcome.kind === 'file');
	const failed = ended.filter(({ passed }) => !passed).map(({ file }) => file);
	const late = new Set(outcomes.filter((outcome) => outcome.kind === 'late').map(({ lot }) => lot));
	const broken = new Set(outcomes.filter((outcome) => outcome.kind === 'process').map(({ lot }) => lot));
	if (failed.length + new Set([...late, ...broken]).size > againMax) return [];
	const names = new Set(ended.map(({ file }) => file));
	const cutOff = [...broken].flatMap((lot) => (lots.get(lot) ?? []).filter((file) => !names.has(file)));
	return [...new Set([...failed, ...cutOff, ...[...late].flatMap((lot) => lots.get(lot) ?? [])])].sort();
}

/** The files that took longest, with their seconds. */
export function slowestOf(outcomes: readonly Outcome[], count: number): string[] {
	return outcomes
		.filter((outcome) => outcome.kind === 'file')
		.sort((left, right) => right.seconds - left.seconds)
		.slice(0, count)
		.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${file}`);
}
