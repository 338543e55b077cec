import type { WaitingLine } from './task.ts';

/**
 * Returns the row ids of the waiting patients all of whose patients exist, or wait with them and can be imported too. `missing`: row ids of
 * which
 * the site has no patient.
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
