import type { ResourceType } from '../table-shape.ts';
import type { HeldRows } from './held-rows.ts';
import type { Row } from './rows.ts';

/** Rows by a key that several of them may have. */
export class RowIndex {
	readonly #rows: HeldRows;
	readonly #ids = new Map<string, readonly string[]>();

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	addStored(key: string, row: Row): void {
		this.#rows.addStored(row);
		const ids = this.#ids.get(key);
		if (!ids?.includes(row.id)) this.#ids.set(key, ids === undefined ? [row.id] : [...ids, row.id]);
	}

	put(key: string, row: Row): void {
		this.#rows.put(row);
		const ids = this.#ids.get(key);
		if (!ids?.includes(row.id)) this.#rows.undo.put(this.#ids, key, ids === undefined ? [row.id] : [...ids, row.id]);
	}

	of(type: ResourceType, key: string): Row[] {
		const ids = this.#ids.get(key) ?? [];
		return ids.map((id) => this.#rows.row(type, id)).filter((row) => row !== undefined);
	}
}
