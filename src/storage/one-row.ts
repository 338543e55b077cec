import { ColumnValues, type Statement } from './statement.ts';

/** A statement for a single row: its columns are parameters of their own, not arrays that are taken apart again. */
interface OneRowForm {
	readonly statement: Statement;
	/** Marks the parameters that were arrays. The others stay as they are. */
	readonly columns: readonly boolean[];
}

const forms = new WeakMap<Statement, OneRowForm | null>();

/** `unnest($1::uuid[], $2::text[]) as k (site_id, value)`. */
const rowsOfArrays = /unnest\(((?:\$\d+::[a-z]+\[\],?\s*)+)\)\s+as (\w+) \(([\w,\s]+)\)/g;
const array = /\$(\d+)::([a-z]+)\[\]/g;

/**
 * Returns what to send for the rows. A lone message mostly reads and writes one row of each table, and PostgreSQL spends more on taking arrays
 * apart than on the row. With parameters in their place it also finds the row by the index at once.
 */
export function fitting(statement: Statement, values: readonly unknown[]): { statement: Statement; values: readonly unknown[] } {
	let form = forms.get(statement);
	if (form === undefined) {
		form = formOf(statement);
		forms.set(statement, form);
	}
	if (form === null) return { statement, values };
	const { columns } = form;
	for (let index = 0; index < columns.length; index++) {
		if (columns[index] !== true) continue;
		const column = values[index];
		if (!(column instanceof ColumnValues) || column.length !== 1) return { statement, values };
	}
	return {
		statement: form.statement,
		values: values.map((value, index) => (columns[index] === true ? (value as ColumnValues).only : value)),
	};
}

/** @returns null where the statement takes no rows as arrays, or more than one set of them */
export function formOf({ name, text }: Statement): OneRowForm | null {
	const columns: boolean[] = [];
	let sets = 0;
	const single = text.replaceAll(rowsOfArrays, (_unnest, arrays: string, alias: string, names: string) => {
		sets++;
		const parameters = [...arrays.matchAll(array)];
		for (const [, number] of parameters) columns[Number(number) - 1] = true;
		const named = names.split(',').map((column, index) => {
			const [, number, type] = parameters[index] ?? [];
			return `$${number}::${type} as ${column.trim()}`;
		});
		return `(select ${named.join(', ')}) as ${alias}`;
	});
	return sets === 1 ? { statement: { name: `${name}_of_one`, text: single }, columns } : null;
}
