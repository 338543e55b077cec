import { useEntryState } from '../entries.ts';

export interface Order {
	/** Undefined while the list is ordered by something else. */
	direction: 'ascending' | 'descending' | undefined;
	turn(): void;
}

/** A column of a list, as far as its order is concerned. */
export interface Orderable<Row> {
	/** Unique among the columns. */
	name: string;
	/** The list is ordered by this column: its head says how, and turns it. */
	order?: Order;
	/** Returns that by which a list that is here as a whole can be ordered. */
	by?(row: Row): string | number | null;
}

interface Chosen {
	column: string;
	direction: 'ascending' | 'descending';
}

const words = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/**
 * Lets people order rows that are all here, by the columns that say by what. A second press on a head turns the order, a third ends it.
 * @param name of the list; its order returns with the page
 * @param isWhole false while there are more rows than these, which only the service could order
 */
export function useOrder<Row, Column extends Orderable<Row>>(
	name: string,
	columns: readonly Column[],
	isWhole: boolean,
): { columns: readonly Column[]; ordered(rows: readonly Row[]): readonly Row[] } {
	const [chosen, setChosen] = useEntryState<Chosen | undefined>(`order of ${name}`, undefined);
	if (!isWhole || !columns.some(({ by }) => by)) return { columns, ordered: (rows) => rows };
	const orderOf = (column: string): Order => {
		const direction = chosen?.column === column ? chosen.direction : undefined;
		const next = direction === undefined ? 'ascending' : direction === 'ascending' ? 'descending' : undefined;
		return { direction, turn: () => setChosen(next && { column, direction: next }) };
	};
	const by = columns.find((column) => column.name === chosen?.column)?.by;
	const sign = chosen?.direction === 'descending' ? -1 : 1;
	return {
		columns: columns.map((column) => (column.by ? { ...column, order: orderOf(column.name) } : column)),
		ordered: (rows) => (by ? rows.toSorted((one, other) => compared(by(one), by(other), sign)) : rows),
	};
}

/** Rows without a value come last in either direction. */
function compared(one: string | number | null, other: string | number | null, sign: number): number {
	if (one === null || other === null) return Number(one === null) - Number(other === null);
	if (typeof one === 'number' && typeof other === 'number') return sign * (one - other);
	return sign * words.compare(String(one), String(other));
}
