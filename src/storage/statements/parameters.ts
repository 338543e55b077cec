import { hash } from 'node:crypto';
import type { ReadStatement } from '../reader.ts';
import { searchPrefix } from '../statement.ts';

/** A statement with its values; the site is always the first. */
export interface Query {
	statement: ReadStatement;
	values: readonly unknown[];
}

const hiddenTypes = ['text', 'text[]', 'uuid'];

/** The values of a statement that is put together, each under its number. */
export class Parameters {
	readonly #values: unknown[];
	readonly #hidesValues: boolean;
	readonly siteId: string;
	#aliases = 0;

	/** @param hidesValues texts and ids stand in subqueries, so that PostgreSQL makes no other plan for other ones */
	constructor(siteId: string, hidesValues = false) {
		this.#values = [siteId];
		this.siteId = siteId;
		this.#hidesValues = hidesValues;
	}

	/** The parameter with its type, to be put into the statement. */
	add(value: unknown, type: string): string {
		this.#values.push(value);
		const parameter = `$${this.#values.length}::${type}`;
		// `any` takes a bare subquery for a list of rows; the type behind it makes it one array.
		return this.#hidesValues && hiddenTypes.includes(type) ? `(select ${parameter})::${type}` : parameter;
	}

	/** A name for the rows of a subquery. */
	alias(): string {
		return `s${++this.#aliases}`;
	}

	/** The query is named by its text if it should stay prepared on the connection. */
	query(text: string, prepared: boolean): Query {
		return { statement: { name: prepared ? nameOf(text) : undefined, text }, values: this.#values };
	}
}

/** Keeps the names of texts: to make a digest is a twentieth of what a search costs. A connection keeps fewer prepared searches than these. */
const names = new Map<string, string>();
const namesMax = 256;

function nameOf(text: string): string {
	const known = names.get(text);
	if (known !== undefined) return known;
	if (names.size === namesMax) names.clear();
	const name = `${searchPrefix}${hash('sha256', text, 'hex').slice(0, 16)}`;
	names.set(text, name);
	return name;
}
