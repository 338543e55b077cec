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
	#aliases = 0;

	constructor(siteId: string) {
		this.#values = [siteId];
	}

	/** The parameter with its type, to be put into the statement. */
	add(value: unknown, type: string): string {
		this.#values.push(value);
		return `$${this.#values.length}::${type}`;
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
