import type { JsonObject } from '#core/json.ts';
import type { SeveralDates, TokenForm } from '#record/search-plan.ts';
import type { Column, ColumnValue, ResourceType, TableShape } from '#record/table-shape.ts';
import type { Chart } from './chart.ts';
import type { Identity } from './identity.ts';
import { patientLink, referencedRow } from './links.ts';

/** Table columns for searches, and how they are filled from a resource. */
export interface SearchColumns {
	readonly columns: readonly Column[];
	valuesOf(resource: JsonObject): readonly ColumnValue[];
}

/**
 * A search parameter: it tells how a value applies to the table's columns or to the resource itself. `path` is a SQL/JSON path into the
 * stored
 * resource (which has no resourceType, id and meta). `presence` leads to the elements of which `:missing` asks, where the paths lead to
 * parts of them, or no path does.
 */
export type SearchParameter = {
	documentation: string;
	/** The type and the name of the parameter (`Claim.status`) where the row has terms for it: at least one if it has a value. */
	scope?: string;
	/** Paths to the Identifiers whose types `:of-type` looks at. */
	ofType?: readonly string[];
	/** The same, where the row has terms in the index of elements (record/search-entry). */
	lead?: string;
} /** Any part of a folded text column; `paths` lead to the texts themselves, for `:exact`. */ & (
	| { type: 'string'; match: 'substring'; column: string; paths: readonly string[]; presence?: readonly string[] }
	/** The start of a text. `column` contains all of the texts, folded, and reduces the rows to be examined. */
	| { type: 'string'; match: 'element'; paths: readonly string[]; column?: string; presence?: readonly string[] }
	/** Words that sound alike. */
	| { type: 'string'; match: 'sound'; paths: readonly string[]; presence?: readonly string[] }
	/** An element of type code; `system` is that of its required binding. `meaning` is present when a plain code stands for other codes. */
	| { type: 'token'; match: 'code'; column: string; system: string; path?: string; meaning?: (code: string) => readonly string[] }
	| { type: 'token'; match: 'coding'; systemColumn: string; valueColumn: string; furtherColumn: string; path: string }
	| { type: 'token'; match: 'identifier'; path: string }
	| { type: 'token'; match: 'id' }
	/** Identifiers in columns of their own. `listColumn` holds those of stored rows, in the form of `identifierToken`. */
	| {
			type: 'token';
			match: 'numbers';
			numbers: readonly NumberColumn[];
			listColumn?: string;
			/** The column of the number that a rendered row shows with this type. */
			typed?: { column: string; system: string; code: string };
	  }
	/** One of a list of codes in a column. `prefix` is common to them and not stored in the column. */
	| { type: 'token'; match: 'member'; column: string; system: string; prefix?: string }
	/**
	 * UIDs of the parts of the resource, which have a table of their own. Their `key` is in `column`, and `listColumn` holds the UIDs of
	 * stored rows.
	 */
	| { type: 'token'; match: 'part'; table: string; uidColumn: string; key: string; column: string; listColumn: string }
	/** Terms of the row (record/search-term). `walks` are the names of the elements on the way to references. */
	| { type: 'token'; match: 'term'; scope: string; textPaths?: readonly string[] }
	| { type: 'uri'; match: 'term'; scope: string; paths: readonly string[] }
	| { type: 'uri'; match: 'element'; paths: readonly string[]; of?: 'meta' }
	| { type: 'uri'; match: 'column'; column: string }
	/** The resource is an entry of a List, which the value names. */
	| { type: 'special'; match: 'list' }
	| {
			type: 'reference';
			match: 'term';
			scope: string;
			paths: readonly string[];
			targets: readonly string[];
			walks: readonly (readonly string[])[];
	  }
	| {
			type: 'token';
			match: 'element';
			/** The paths lead through the resource itself, unless this says `meta`. */
			of?: 'meta';
			paths: readonly string[];
			form: TokenForm;
			system?: string;
			textPaths?: readonly string[];
			presence?: readonly string[];
	  }
	/**
	 * A reference in a column, to the first of `targets`. `path` leads to the reference if the resource is stored; one to another of the targets
	 * stands there alone (search/divided-reference).
	 */
	| { type: 'reference'; match: 'column'; column: string; targets: readonly [string, ...string[]]; path: string | undefined }
	| { type: 'reference'; match: 'element'; path: string; targets: readonly string[] }
	/** A range in two columns, its end excluded; `date` columns hold whole days. None is longer than `longestMs`. With `several`, a row may
	 * have more than one. */
	| {
			type: 'date';
			match: 'range';
			columnType: 'date' | 'timestamptz';
			startColumn: string;
			endColumn: string;
			longestMs?: number;
			/** Forms of the element that may have no range: a Timing, a Period without start and end. */
			presence?: readonly string[];
			several?: SeveralDates;
	  }
	| { type: 'date'; match: 'moment'; column: string }
	| { type: 'date'; match: 'element'; paths: readonly string[] }
	| { type: 'quantity'; paths: readonly string[] }
	| { type: 'number'; paths: readonly string[] }
	/** Values of the components, between `$`. */
	| { type: 'composite'; components: readonly string[]; items?: readonly CompositeItems[] }
);

/** The items of a path in which the components of a composite must hold together; several parameters of one component are alternatives. */
export interface CompositeItems {
	/** Names of elements, joined by dots; empty for the resource itself. */
	path: string;
	parameters: readonly (readonly SearchParameter[])[];
}

/** Values of one system, or of the system in another column. The column omits `prefix`, and a search may omit it. */
export interface NumberColumn {
	column: string;
	system: { uri: string } | { column: string };
	prefix?: string;
}

export type Interaction = 'read' | 'vread' | 'history-instance' | 'history-type' | 'search-type' | 'create' | 'update' | 'patch' | 'delete';

/** Interactions that every resource type allows. */
export const readInteractions = ['read', 'vread', 'history-instance', 'history-type', 'search-type'] as const satisfies Interaction[];
/** Interactions by which a client may write. */
export const writeInteractions = ['create', 'update', 'patch'] as const satisfies Interaction[];
/** The setting of a site that lets clients delete resources of the types that have the interaction. */
export const deleteSetting = 'deletes';

/**
 * The definition of a resource type. Routes, search, table columns and the capability statement follow from it; no other code names its
 * parameters.
 */
export interface ResourceDefinition<Type extends string = ResourceType, List extends string = string> {
	type: Type;
	profile: string;
	interactions: readonly Interaction[];
	/**
	 * The setting of a site that lets clients write it. Then it has the link `origin`, and clients change only what clients wrote, because
	 * the service makes resources of this type itself.
	 */
	writtenIf?: WriteSetting;
	search: Readonly<Record<string, SearchParameter>>;
	/** Elements that `_summary=true` shows, and those that every answer must have (FHIR R4 §3.1.1.5.9). */
	summary: readonly string[];
	mandatory: readonly string[];
	/** Members of elements of the summary that are not part of it. */
	beyondSummary?: Readonly<Record<string, readonly string[]>>;
	/** A body that a create accepts unchanged. */
	example: JsonObject;
	/** Returns its attachments, whose bytes may be a Binary of this service. */
	attachments(resource: JsonObject): readonly JsonObject[];
	/** The list on the page of a patient, for every type that belongs to patients. */
	chart: Chart<List> | undefined;
	/** Keys that are filled in the same way for every source. Messages and documents find the resource by them. */
	identity: Identity;
	table: TableShape;
}

/** A setting on which writing a resource type depends. */
export type WriteSetting = 'report_writes';

interface Definition<Type extends string, List extends string> {
	type: Type;
	interactions: readonly Interaction[];
	/** See ResourceDefinition. */
	writtenIf?: WriteSetting;
	/** The table from which its rows are read. */
	table: string;
	/** For a resource that is rendered when it is read: the table from which, and the one that holds what clients write; see TableShape. */
	rendered?: { from: string; writtenTo: string };
	/**
	 * The element that names its patient, or a function that returns the patient's row id, and its list on the page of the patient; `self` for the Patient, `none` for types that belong to
	 * nobody.
	 */
	compartment: 'self' | 'none' | { patient: string | ((resource: JsonObject) => string | null); chart: Chart<List> | undefined };
	/** See ResourceDefinition; each key is a column. Keys that messages alone can state are `links`. */
	identity?: Identity;
	/** Columns that connect its rows to others, beside those of the patient and of `identity`. */
	links?: readonly Column[];
	/** The links that the resource itself states, beside its patient. */
	statedLinks?: TableShape['statedLinks'];
	columns: readonly SearchColumns[];
	search: Readonly<Record<string, SearchParameter>>;
	summary: readonly string[];
	mandatory: readonly string[];
	beyondSummary?: Readonly<Record<string, readonly string[]>>;
	/** See ResourceDefinition; without resourceType. */
	example?: JsonObject;
	attachments?: (resource: JsonObject) => readonly JsonObject[];
}

export function defineResource<const Type extends string, const List extends string = never>(
	definition: Definition<Type, List>,
): ResourceDefinition<Type, List> {
	const {
		type,
		interactions,
		writtenIf,
		compartment,
		search,
		summary,
		mandatory,
		beyondSummary,
		example,
		attachments = () => [],
		identity = {},
	} = definition;
	return {
		type,
		profile: `http://hl7.org/fhir/StructureDefinition/${type}`,
		interactions,
		...(writtenIf === undefined ? {} : { writtenIf }),
		search,
		summary,
		mandatory,
		...(beyondSummary === undefined ? {} : { beyondSummary }),
		example: { resourceType: type, ...example },
		attachments,
		chart: typeof compartment === 'string' ? undefined : compartment.chart,
		identity,
		table: tableShape(definition),
	};
}

function tableShape({
	type,
	table,
	rendered,
	compartment,
	links = [],
	identity = {},
	columns,
	...definition
}: Definition<string, string>): TableShape {
	const patient = typeof compartment === 'string' ? undefined : compartment.patient;
	const statedLinks = (resource: JsonObject): Readonly<Record<string, ColumnValue>> => ({
		...(patient === undefined
			? {}
			: { patient_id: typeof patient === 'string' ? referencedRow(resource[patient], 'Patient') : patient(resource) }),
		...definition.statedLinks?.(resource),
	});
	const keys = Object.keys(identity).map((name): Column => ({ name, sqlType: 'uuid' }));
	const searchValues = (resource: JsonObject): ColumnValue[] => {
		const values: ColumnValue[] = [];
		for (const part of columns) for (const value of part.valuesOf(resource)) values.push(value);
		return values;
	};
	return {
		// The table of definitions has an entry for each, and so declares the type.
		resourceType: type as ResourceType,
		table,
		renderedFrom: rendered?.from,
		keptIn: rendered?.writtenTo ?? table.split('/')[0] ?? table,
		isShared: table.includes('/'),
		hasAttachments: definition.attachments !== undefined,
		compartment: typeof compartment === 'string' ? compartment : 'patient',
		links: [...(patient === undefined ? [] : [patientLink]), ...links, ...keys],
		statedLinks,
		search: columns.flatMap((part) => part.columns),
		searchValues,
	};
}
