import type { Cell } from '#storage/cell.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { ColumnValues, type Statement } from '#storage/statement.ts';

export type NamedCells = Readonly<Record<string, Cell>>;

/**
 * A database of the tests' own: it notes each statement, its arrays as PostgreSQL writes them, and answers rows that are given by the names of their columns, in the order in
 * which the text of the statement selects them.
 */
export class StatementNotes implements StatementRunner {
	readonly ran: { name: string; values: readonly unknown[] }[] = [];
	readonly #answers: Readonly<Record<string, readonly NamedCells[]>>;

	constructor(answers: Readonly<Record<string, readonly NamedCells[]>> = {}) {
		this.#answers = answers;
	}

	async run(statement: Statement, values: readonly unknown[]): Promise<Cell[][]> {
		this.ran.push({ name: statement.name, values: values.map((value) => (value instanceof ColumnValues ? value.toPostgres() : value)) });
		const columns = selected(statement.text);
		return (this.#answers[statement.name] ?? []).map((row) => {
			const unknown = Object.keys(row).filter((name) => !columns.includes(name));
			if (unknown.length > 0) throw new Error(`${statement.name} does not select ${unknown.join(', ')}`);
			return columns.map((name) => row[name] ?? null);
		});
	}

	names(): string[] {
		return this.ran.map(({ name }) => name);
	}

	valuesOf(name: string): readonly unknown[] | undefined {
		return this.ran.find((statement) => statement.name === name)?.values;
	}
}

/** The columns of the statement's own select list: `p.site_id` is site_id, a whole text its column, and an expression is named by its function. */
function selected(text: string): string[] {
	// A common table expression stands in parentheses before it.
	const list = /(?:^|\n)select ([\s\S]*?)\nfrom /.exec(text)?.[1] ?? '';
	return list
		.replace(/case when substr\((\w+\.\w+), 1, 1\).*? end/g, '$1')
		.split(/,\s*/)
		.map((column) => /^\w+\.(\w+)$/.exec(column.trim())?.[1] ?? /^(\w+)\(/.exec(column.trim())?.[1] ?? column.trim());
}
