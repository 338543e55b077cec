import type { JsonObject } from '#core/json.ts';
import { parseExact } from '#core/json.ts';
import type { ColumnValue, ResourceType } from '../table-shape.ts';
import type { ApplyContext } from './context.ts';

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

/**
 * The next version of a row, or the row itself when nothing about it changes. One message makes one version, however
 * many of its changes touch the resource. The version is noted in the context.
 */
export function revise(context: ApplyContext, row: Row, text: string, resource: JsonObject, links: Row['links']): Row {
	if (text === row.text && sameLinks(row.links, links)) return row;
	const again = context.changed.indexOf(row);
	if (again >= 0) {
		const next = { ...row, text, resource, links };
		context.changed[again] = next;
		return next;
	}
	const { source, lastUpdated } = context;
	const next = { ...row, version: row.version + 1, text, resource, links, source, supersedes: row, stored: false, lastUpdated };
	context.changed.push(next);
	return next;
}

function sameLinks(left: Row['links'], right: Row['links']): boolean {
	for (const name in right) if ((left[name] ?? null) !== (right[name] ?? null)) return false;
	return true;
}
