import type { JsonObject } from '#core/json.ts';
import { parseExact } from '#core/json.ts';
import type { ColumnValue, ResourceType } from '../table-shape.ts';

/**
 * One version of a resource as the working set holds it. Rows are immutable: a change makes a new row that points at
 * the one it supersedes, so a message's changes are undone by forgetting its rows.
 */
export interface Row {
	readonly resourceType: ResourceType;
	readonly id: string;
	readonly version: number;
	/** JSON text of the resource without resourceType, id and meta. */
	readonly text: string;
	/** The resource that the text was made from; absent for a row as it was read. Not to be changed. */
	readonly resource?: JsonObject;
	/** JSON text of further meta members, or null. */
	readonly meta: string | null;
	readonly source: string | null;
	/** Values of the table's link columns, by name. */
	readonly links: Readonly<Record<string, ColumnValue>>;
	/** The version that this one supersedes; undefined for a new resource and for a row as it was read. */
	readonly supersedes: Row | undefined;
	/** Whether the row stands in the database as it is here. */
	readonly stored: boolean;
	/** FHIR instant of the version. */
	readonly lastUpdated: string;
}

export function resourceOf(row: Row): JsonObject {
	return parseExact(row.text);
}
