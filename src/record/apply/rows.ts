import type { JsonObject } from '#core/json.ts';
import { parseExact } from '#core/json.ts';
import type { StoredResource } from '../stored-resource.ts';
import type { ColumnValue, ResourceType } from '../table-shape.ts';

/**
 * One version of a resource in the working set. Rows are immutable: a change makes a new row that points at the one it supersedes, so a
 * message's changes are undone by forgetting its rows.
 */
export interface Row {
	readonly resourceType: ResourceType;
	/** The id of the row; see `fhirIdOf`. */
	readonly id: string;
	/** The FHIR id if a client chose it and the row's id is derived from it; else null. */
	readonly givenId: string | null;
	readonly version: number;
	/** JSON text of the resource without resourceType, id and meta. */
	readonly text: string;
	/** The resource from which the text was made; absent for a row that was read. It must not be changed. */
	readonly resource?: JsonObject;
	/** JSON text of further meta members, or null. */
	readonly meta: string | null;
	readonly source: string | null;
	/** Values of the table's link columns, by name. */
	readonly links: Readonly<Record<string, ColumnValue>>;
	/** The version that this one supersedes; undefined for a new resource and for a row as it was read. */
	readonly supersedes: Row | undefined;
	/** True when the row stands in the database in this form. */
	readonly stored: boolean;
	/** FHIR instant of the version. */
	readonly lastUpdated: string;
}

/** Returns the id by which clients know the resource. */
export function fhirIdOf(row: Pick<Row, 'id' | 'givenId'>): string {
	return row.givenId ?? row.id;
}

export function referenceTo(row: Pick<Row, 'resourceType' | 'id' | 'givenId'>): string {
	return `${row.resourceType}/${fhirIdOf(row)}`;
}

/** Returns the row in the form that is shown. One that was read has PostgreSQL's form of the time. */
export function storedOf(row: Row): StoredResource {
	const { version, lastUpdated, source, meta, text } = row;
	return { id: fhirIdOf(row), version: String(version), lastUpdated: new Date(lastUpdated).toISOString(), source, meta, text };
}

export function resourceOf(row: Row): JsonObject {
	return parseExact(row.text);
}

interface NewRow {
	resourceType: ResourceType;
	id: string;
	givenId?: string | null;
	text: string;
	resource: JsonObject;
	meta?: string | null;
	links: Row['links'];
}

/** Makes the first version of a resource. */
export function newRow(context: { source: string; lastUpdated: string }, given: NewRow): Row {
	return {
		givenId: null,
		meta: null,
		...given,
		version: 1,
		source: context.source,
		supersedes: undefined,
		stored: false,
		lastUpdated: context.lastUpdated,
	};
}

/** Tells whether the database has no version of the resource yet. */
export function isNew(row: Row): boolean {
	let first = row;
	while (first.supersedes) first = first.supersedes;
	return !first.stored;
}

/** The outcome for a resource that a FHIR client wrote or deleted. */
export type ResourceResult = Written | Deleted;

export interface Written {
	/** 201 when the resource is new. */
	status: 200 | 201;
	row: Row;
}

export interface Deleted {
	status: 204;
	/** The deletion; undefined when there was never such a resource. */
	row: Row | undefined;
}
