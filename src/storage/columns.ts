import type { Cell } from './cell.ts';

/** The columns that a statement selects: their list as SQL, and the position of each in a row of the result. */
export interface Columns<Name extends string> {
	readonly list: string;
	readonly at: Readonly<Record<Name, number>>;
	/** The position of the next column. */
	readonly width: number;
}

/**
 * Lays out columns by the alias of their table: `columnsOf({ p: ['site_id', 'id'] })` is `p.site_id, p.id`. The statement and the code that
 * reads its result both use it, so no position is written twice.
 * @param before the number of columns that the statement selects before these
 */
export function columnsOf<const Tables extends Readonly<Record<string, readonly string[]>>>(
	tables: Tables,
	before = 0,
): Columns<Tables[keyof Tables][number]> {
	const columns = Object.entries(tables).flatMap(([alias, names]) => names.map((name) => ({ alias, name })));
	const at = Object.fromEntries(columns.map(({ name }, index) => [name, before + index]));
	if (Object.keys(at).length < columns.length) throw new Error('two columns of a statement have the same name');
	const list = columns.map(({ alias, name }) => `${alias}.${name}`).join(', ');
	return { list, at: at as Record<Tables[keyof Tables][number], number>, width: before + columns.length };
}

/** Returns the text of a column that is never null. */
export function textAt(cells: readonly Cell[], index: number): string {
	const cell = cells[index];
	if (cell === null || cell === undefined) throw new Error('a column that always has a value has none');
	return cell;
}

/** Returns the text of a column that may be null. */
export function cellAt(cells: readonly Cell[], index: number): Cell {
	return cells[index] ?? null;
}
