import type { JsonObject } from '#core/json.ts';

/** The PostgreSQL types that search columns have. */
export type ColumnType = 'text' | 'date' | 'timestamptz' | 'boolean' | 'text[]' | 'uuid' | 'integer';

export interface Column {
	name: string;
	sqlType: ColumnType;
}

export type ColumnValue = string | boolean | number | string[] | null;

/** The table of resource types (fhir/resources) declares here which there are: nothing else lists them. */
export interface Served {
	fhirVersion: '4.0.1';
}

/** The name of a resource type that is served. */
export type ResourceType = Served extends { type: infer Type extends string } ? Type : string;

/** `self` is the Patient, `patient` what belongs to one and so goes with it, `none` what belongs to nobody. */
export type Compartment = 'self' | 'patient' | 'none';

/** How a resource type is kept: its table, and the columns beside the common ones, in order. */
export interface TableShape {
	resourceType: ResourceType;
	/** Where its rows are read. */
	table: string;
	/** Its rows are kept in another form, and nobody writes the resource: its text is made when it is read. */
	isRendered: boolean;
	/** Where its rows are kept: `table`, or the table from which it is rendered. */
	keptIn: string;
	compartment: Compartment;
	/** Whether a resource may name a Binary of this service. */
	hasAttachments: boolean;
	/** Columns that tie rows together; `record/apply` fills them. */
	links: readonly Column[];
	/** The links that the resource itself states, for what a FHIR client writes. */
	statedLinks(resource: JsonObject): Readonly<Record<string, ColumnValue>>;
	/** Columns that searches read; filled from the resource by its definition. */
	search: readonly Column[];
	searchValues(resource: JsonObject): readonly ColumnValue[];
}
