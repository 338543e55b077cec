import type { JsonObject } from '#core/json.ts';
import type { Column, ColumnValue, TableShape } from '#record/table-shape.ts';
import type { SearchColumns } from './search-columns.ts';

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

export type Interaction = 'read' | 'vread' | 'history-instance' | 'history-type' | 'search-type' | 'create' | 'update' | 'patch';

/** What every resource type can be asked for. */
export const readInteractions = ['read', 'vread', 'history-instance', 'history-type', 'search-type'] as const satisfies Interaction[];
/** And what a client may write. */
export const writeInteractions = ['create', 'update', 'patch'] as const satisfies Interaction[];

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

interface Definition {
	type: TableShape['resourceType'];
	interactions: readonly Interaction[];
	table: string;
	links: readonly Column[];
	statedLinks: TableShape['statedLinks'];
	columns: readonly SearchColumns[];
	search: ResourceDefinition['search'];
}

export function defineResource({ type, interactions, table, links, statedLinks, columns, search }: Definition): ResourceDefinition {
	const searchValues = (resource: JsonObject): ColumnValue[] => {
		const values: ColumnValue[] = [];
		for (const part of columns) for (const value of part.valuesOf(resource)) values.push(value);
		return values;
	};
	return {
		type,
		profile: `http://hl7.org/fhir/StructureDefinition/${type}`,
		interactions,
		search,
		table: { resourceType: type, table, links, statedLinks, search: columns.flatMap((part) => part.columns), searchValues },
	};
}
