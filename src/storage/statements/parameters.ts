import { createHash } from 'node:crypto';
import type { ReadStatement } from '../reader.ts';
import { searchPrefix } from '../statement.ts';

/** A statement with its values; the site is always the first. */
export interface Query {
	statement: ReadStatement;
	values: readonly unknown[];
}

/** The values of a statement that is put together, each under its number. */
export class Parameters {
	readonly #values: unknown[];
	readonly #hidesValues: boolean;
	#aliases = 0;

	/** @param hidesValues texts and ids stand in subqueries, so that PostgreSQL makes no other plan for other ones */
	constructor(siteId: string, hidesValues = false) {
		this.#values = [siteId];
		this.#hidesValues = hidesValues;
	}

	/** The parameter with its type, to be put into the statement. */
	add(value: unknown, type: string): string {
		this.#values.push(value);
		const parameter = `$${this.#values.length}::${type}`;
		return this.#hidesValues && (type === 'text' || type === 'uuid') ? `(select ${parameter})` : parameter;
	}

	/** A name for the rows of a subquery. */
	alias(): string {
		return `s${++this.#aliases}`;
	}

	/** The query is named by its text if it should stay prepared on the connection. */
	query(text: string, prepared: boolean): Query {
		const name = prepared ? `${searchPrefix}${createHash('sha256').update(text).digest('hex').slice(0, 16)}` : undefined;
		return { statement: { name, text }, values: this.#values };
	}
}
