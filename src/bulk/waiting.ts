import type { WaitingLine } from './task.ts';

/**
 * Row ids of the waiting patients whose patients are all there, or wait with them and are there too. `missing`: row ids of
 * which the site has no patient.
 */
export function survivorsOf(waiting: readonly Pick<WaitingLine, 'rowId' | 'missing'>[], missing: ReadonlySet<string>): Set<string> {
	let left = waiting;
	for (;;) {
		const ids = new Set(left.map(({ rowId }) => rowId));
		const staying = left.filter((line) => line.missing.every((rowId) => !missing.has(rowId) || ids.has(rowId)));
		if (staying.length === left.length) return ids;
		left = staying;
	}
}
