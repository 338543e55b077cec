import type { JsonObject } from '#core/json.ts';

/** The PostgreSQL types that search columns have. */
export type ColumnType = 'text' | 'date' | 'timestamptz' | 'boolean' | 'text[]' | 'uuid' | 'integer';

export interface Column {
	name: string;
	sqlType: ColumnType;
}

export type ColumnValue = string | boolean | number | string[] | null;

export type ResourceType = 'Patient' | 'Encounter' | 'Observation';

/** How a resource type is kept: its table, and the columns beside the common ones, in order. */
export interface TableShape {
	resourceType: ResourceType;
	table: string;
	/** Columns that tie rows together; `record/apply` fills them. */
	links: readonly Column[];
	/** Columns that searches read; filled from the resource by its definition. */
	search: readonly Column[];
	searchValues(resource: JsonObject): readonly ColumnValue[];
}
