import { isDeletion } from '../stored-resource.ts';
import type { ResourceType } from '../table-shape.ts';
import type { Row } from './rows.ts';
import { UndoLog } from './undo-log.ts';

/**
 * Holds the newest version of every row that was read or made, by type and row id. Holdings beside the rows are undone together with them.
 */
export class HeldRows {
	readonly undo = new UndoLog();
	readonly #tables = new Map<ResourceType, Map<string, Row>>();

	/** Adds a row as it stands in the database. */
	addStored(row: Row): void {
		this.#table(row.resourceType).set(row.id, row);
	}

	/** Returns a resource; undefined when it is deleted. */
	row(type: ResourceType, id: string): Row | undefined {
		const row = this.newest(type, id);
		return row === undefined || isDeletion(row) ? undefined : row;
	}

	/** Returns the newest version, even if that is a deletion. */
	newest(type: ResourceType, id: string): Row | undefined {
		return this.#tables.get(type)?.get(id);
	}

	/** Returns every resource of the type that was read or made. */
	rows(type: ResourceType): Row[] {
		return [...this.#table(type).values()].filter((row) => !isDeletion(row));
	}

	/** A new version of a row, or a new row. */
	put(row: Row): void {
		this.undo.put(this.#table(row.resourceType), row.id, row);
	}

	/** Returns every row that the batch made, in the newest version of each resource. */
	*changed(): Generator<Row> {
		for (const table of this.#tables.values()) for (const row of table.values()) if (!row.stored) yield row;
	}

	#table(type: ResourceType): Map<string, Row> {
		const held = this.#tables.get(type);
		if (held) return held;
		const table = new Map<string, Row>();
		this.#tables.set(type, table);
		return table;
	}
}
