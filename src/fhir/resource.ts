import type { TableShape } from '#record/table-shape.ts';

/** A search parameter: what a value of it means in terms of the table's columns. */
export type SearchParameter = { documentation: string } & (
	| { type: 'string'; match: 'substring'; column: string }
	/** An element of type code; `system` is that of its required binding. */
	| { type: 'token'; match: 'code'; column: string; system: string }
	| { type: 'token'; match: 'coding'; systemColumn: string; valueColumn: string; furtherColumn: string }
	| { type: 'token'; match: 'identifier' }
	| { type: 'token'; match: 'id' }
	| { type: 'reference'; column: string; target: string }
	/** A range in two columns, its end excluded; `date` columns hold whole days. */
	| { type: 'date'; columnType: 'date' | 'timestamptz'; startColumn: string; endColumn: string }
);

export type Interaction = 'read' | 'search-type';

/**
 * All that the product knows of a resource type. Routes, search, table columns and the capability statement follow from
 * it; nothing else names its parameters.
 */
export interface ResourceDefinition {
	type: TableShape['resourceType'];
	profile: string;
	interactions: readonly Interaction[];
	search: Readonly<Record<string, SearchParameter>>;
	table: TableShape;
}

export function defineResource(definition: Omit<ResourceDefinition, 'profile'>): ResourceDefinition {
	return { ...definition, profile: `http://hl7.org/fhir/StructureDefinition/${definition.type}` };
}
