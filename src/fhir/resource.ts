import type { JsonObject } from '#core/json.ts';
import type { TokenForm } from '#record/search-plan.ts';
import type { Column, ColumnValue, ResourceType, TableShape } from '#record/table-shape.ts';
import type { SearchColumns } from './search-columns.ts';

/**
 * A search parameter: what a value of it means in terms of the table's columns, or of the resource itself. `path` is a
 * SQL/JSON path into the stored resource (which has no resourceType, id and meta); `presence` leads to the elements where
 * `paths` is a predicate.
 */
export type SearchParameter = {
	documentation: string;
} /** Any part of a folded text column; `paths` lead to the texts themselves, for `:exact`. */ & (
	| { type: 'string'; match: 'substring'; column: string; paths: readonly string[] }
	/** The start of a text. `column` contains all of them, folded, and narrows the rows that are looked into. */
	| { type: 'string'; match: 'element'; paths: readonly string[]; column?: string }
	/** An element of type code; `system` is that of its required binding. `meaning` stands where a plain code means others than itself. */
	| { type: 'token'; match: 'code'; column: string; system: string; path: string; meaning?: (code: string) => readonly string[] }
	| { type: 'token'; match: 'coding'; systemColumn: string; valueColumn: string; furtherColumn: string; path: string }
	| { type: 'token'; match: 'identifier'; path: string }
	| { type: 'token'; match: 'id' }
	/** Identifiers that stand in columns of their own. */
	| { type: 'token'; match: 'numbers'; numbers: readonly NumberColumn[] }
	/** One of a list of codes in a column; `prefix` is theirs, which the column leaves out. */
	| { type: 'token'; match: 'member'; column: string; system: string; prefix?: string }
	/** UIDs of the parts of the resource, which have a table of their own; `column` is what both tables have. */
	| { type: 'token'; match: 'part'; table: string; uidColumn: string; column: string }
	/** An element that is the same in all resources. */
	| { type: 'token'; match: 'constant'; system: string; value: string }
	| {
			type: 'token';
			match: 'element';
			paths: readonly string[];
			form: TokenForm;
			system?: string;
			textPaths?: readonly string[];
			presence?: readonly string[];
	  }
	/** By a column, one of `targets` is what it refers to; `path` leads to the reference where the resource is stored. */
	| { type: 'reference'; match: 'column'; column: string; targets: readonly [ResourceType]; path: string | undefined }
	| { type: 'reference'; match: 'element'; path: string; targets: readonly string[] }
	/** A range in two columns, its end excluded; `date` columns hold whole days. None is longer than `longestMs`. */
	| { type: 'date'; match: 'range'; columnType: 'date' | 'timestamptz'; startColumn: string; endColumn: string; longestMs?: number }
	| { type: 'date'; match: 'moment'; column: string }
	| { type: 'quantity'; paths: readonly string[] }
	/** Values of the components, between `$`. */
	| { type: 'composite'; components: readonly string[] }
);

/** Values of one system, or of that in another column. The column leaves out `prefix`, and a search may. */
export interface NumberColumn {
	column: string;
	system: { uri: string } | { column: string };
	prefix?: string;
}

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
	type: ResourceType;
	profile: string;
	interactions: readonly Interaction[];
	search: Readonly<Record<string, SearchParameter>>;
	/** Elements that `_summary=true` shows, and those that no answer may lack (FHIR R4 §3.1.1.5.9). */
	summary: readonly string[];
	mandatory: readonly string[];
	/** Members of elements of the summary that are not part of it. */
	beyondSummary?: Readonly<Record<string, readonly string[]>>;
	table: TableShape;
}

interface Definition {
	type: ResourceType;
	interactions: readonly Interaction[];
	table: string;
	links: readonly Column[];
	statedLinks: TableShape['statedLinks'];
	columns: readonly SearchColumns[];
	search: ResourceDefinition['search'];
	summary: readonly string[];
	mandatory: readonly string[];
	beyondSummary?: Readonly<Record<string, readonly string[]>>;
	isRendered?: boolean;
}

export function defineResource({
	type,
	table,
	links,
	statedLinks,
	columns,
	isRendered = false,
	...definition
}: Definition): ResourceDefinition {
	const searchValues = (resource: JsonObject): ColumnValue[] => {
		const values: ColumnValue[] = [];
		for (const part of columns) for (const value of part.valuesOf(resource)) values.push(value);
		return values;
	};
	return {
		...definition,
		type,
		profile: `http://hl7.org/fhir/StructureDefinition/${type}`,
		table: { resourceType: type, table, isRendered, links, statedLinks, search: columns.flatMap((part) => part.columns), searchValues },
	};
}
