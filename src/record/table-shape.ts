import type { JsonObject } from '#core/json.ts';

/** The PostgreSQL types that search columns have. */
export type ColumnType = 'text' | 'date' | 'timestamptz' | 'boolean' | 'text[]' | 'bigint[]' | 'uuid' | 'integer';

export interface Column {
	name: string;
	sqlType: ColumnType;
}

export type ColumnValue = string | boolean | number | string[] | null;

/** The table of resource types (fhir/resources) declares its members here. There is no other list. */
export interface Served {
	fhirVersion: '4.0.1';
}

/** The name of a resource type that is served. */
export type ResourceType = Served extends { type: infer Type extends string } ? Type : string;

/** `self` is the Patient, `patient` is a resource that belongs to a patient, `none` is one that belongs to nobody. */
export type Compartment = 'self' | 'patient' | 'none';

/** The storage of a resource type: its table, and its own columns beside the common ones, in order. */
export interface TableShape {
	resourceType: ResourceType;
	/** What its rows are read from: a table, or `<table>/<type>` if several types share the table and `resource_type` tells them apart. */
	table: string;
	/**
	 * The table from which rows are rendered when they are read. Clients do not write these; what they write stands in `keptIn`, and `table` is
	 * a view of both.
	 */
	renderedFrom: string | undefined;
	/** The table in which written rows are stored: its own, or the shared one. */
	keptIn: string;
	/** True when other types have rows in the same table. */
	isShared: boolean;
	compartment: Compartment;
	/** True when a resource may refer to a Binary of this service. */
	hasAttachments: boolean;
	/** Columns that connect rows; `record/apply` fills them. */
	links: readonly Column[];
	/** Returns the links that the resource itself states, for resources that a FHIR client writes. */
	statedLinks(resource: JsonObject): Readonly<Record<string, ColumnValue>>;
	/** Columns for searches; its definition fills them from the resource. */
	search: readonly Column[];
	searchValues(resource: JsonObject): readonly ColumnValue[];
}
