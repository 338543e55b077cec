import type { Term } from './search-term.ts';
import type { ColumnType, ResourceType } from './table-shape.ts';

/** A search of one site, as plain data. All clauses must hold. */
export interface SearchPlan {
	resourceType: ResourceType;
	table: string;
	clauses: Clause[];
	/** The order of the results; ties are sorted by row id. */
	sort: SortKey[];
	/** The largest number of entries in a page. */
	count: number;
	/** The position at which the previous page ended. */
	after: PagePosition | undefined;
	/** The part of the resource that the answer needs, for resources that are rendered when they are read. */
	extent: Extent;
}

/** The extent of a study: all of it, all but its instances, or neither its instances nor its series. */
export type Extent = 'whole' | 'outline' | 'head';

export interface SortKey {
	column: string;
	columnType: ColumnType;
	/** True when a row may have no value. */
	nullable: boolean;
	descending: boolean;
}

export interface PagePosition {
	/** Row id. */
	id: string;
	/** The value of each sort key in PostgreSQL's text form. */
	keys: (string | null)[];
}

/** What is included: resources of one type, and only those that fulfil the conditions. */
export interface Included {
	includedType: ResourceType;
	includedTable: string;
	/** The limits of the caller's scopes. */
	reached?: readonly Clause[];
}

/** Further resources that a page includes beside its matches (FHIR R4 §3.1.1.5.4), by a column that refers to another row. */
export interface Inclusion extends Included {
	/** `forward` includes the rows to which a match refers by the column; `reverse` includes the rows that refer to a match by it. */
	direction: 'forward' | 'reverse';
	/** The table that has the column. */
	table: string;
	column: string;
	/** What comes before the row id in the terms of the column, where no index of its own leads to it. */
	prefix?: string;
}

/** Includes the rows that refer to a match by a term. `prefix` comes before the row id. */
export interface TermInclusion extends Included {
	direction: 'term';
	prefix: string;
}

/** An inclusion by an element that no column holds. Its references are read from the matches. */
export interface ElementInclusion extends Included {
	direction: 'element';
	/** Names of the elements on the way to the references. */
	path: readonly string[];
}

/** Includes the rows that refer to a match by an element that no column holds. They are searched for as by its parameter. */
export interface ReferringInclusion extends Included {
	direction: 'referring';
	/** The type of the matches. */
	referredType: ResourceType;
	/** Leads to the references, as an SQL/JSON path. */
	path: string;
	/** The scope of the parameter in the index of elements. */
	lead?: string;
}

export type AnyInclusion = Inclusion | TermInclusion | ElementInclusion | ReferringInclusion;

/** FHIR R4 §3.1.1.4.5: how the range of a resource's date relates to the range of the parameter. */
export type DatePrefix = 'eq' | 'ne' | 'gt' | 'lt' | 'ge' | 'le' | 'sa' | 'eb';

/** The column holds the ranges of rows that have several, as JSON: lists of `[start, end]` by name. */
export interface SeveralDates {
	column: string;
	name: string;
}

/** `low` is within the range, `high` is the first moment after it; in the text form of the columns' type. */
export interface DateAlternative {
	prefix: DatePrefix;
	low: string;
	high: string;
}

/**
 * A token of FHIR R4 §3.1.1.4.10. An undefined system matches any, an empty one matches none. An undefined value matches any of the system.
 */
export interface Token {
	system: string | undefined;
	value: string | undefined;
}

/** A number with the range that its precision implies (FHIR R4 §3.1.1.4.6): `low` is within, `high` is the first number beyond. */
export interface QuantityAlternative {
	prefix: DatePrefix;
	low: string;
	high: string;
	value: string;
	/** Undefined matches any system; empty matches none. */
	system: string | undefined;
	/** Code or unit. */
	code: string | undefined;
}

/** Terms, and those that refer to the rows for which the clauses hold; `prefix` comes before the row id. */
export interface Lead {
	terms: Term[];
	through: { prefix: string; table: string; clauses: Clause[] }[];
	/** Terms of the sounds of words; `prefix` comes before the sound. */
	sounds?: { prefix: string; word: string }[];
}

/** A clause without alternatives matches nothing: no resource can have any of the parameter's values. */
export type Clause =
	/** A column equals one of the texts. */
	| { kind: 'code'; column: string; values: string[] }
	/** A list column holds one of the texts. */
	| { kind: 'member'; column: string; values: string[] }
	/** A list column is not empty. */
	| { kind: 'listed'; column: string }
	/** A column has a value. */
	| { kind: 'present'; column: string }
	/** A column has none. */
	| { kind: 'absent'; column: string }
	/** A uuid column: the row's id, or a reference. */
	| { kind: 'reference'; column: string; ids: string[] }
	/** A folded text column contains one of the folded texts. */
	| { kind: 'string'; column: string; values: string[] }
	/** A coding. The first one is stored in two columns, further ones in an array of `system|code`, `system|` and `code`. */
	| { kind: 'coding'; systemColumn: string; valueColumn: string; furtherColumn: string; tokens: Token[] }
	/** Entries of the site's identifier index. */
	| { kind: 'identifier'; tokens: Token[] }
	/**
	 * A range in two columns, whose end is excluded. Open ends are infinite, and a row without a date holds null. No range is longer than
	 * `longestMs`.
	 */
	| {
			kind: 'date';
			columnType: 'date' | 'timestamptz';
			startColumn: string;
			endColumn: string;
			longestMs?: number;
			several?: SeveralDates;
			alternatives: DateAlternative[];
	  }
	/** A moment in one column. */
	| { kind: 'moment'; column: string; alternatives: DateAlternative[] }
	/** The row has one of the terms (search-term.ts). */
	| { kind: 'terms'; terms: Term[] }
	/** The row has a term that refers to one of the patients, or to one who is the same person by a merge. `prefix` comes before the row id. */
	| { kind: 'patient-terms'; prefix: string; ids: string[] }
	/** One of the resource's own elements on a path passes the test. */
	| { kind: 'element'; paths: readonly string[]; test: ElementTest; of?: 'meta' }
	/** The clauses, which are about elements, hold for one of the items on a path. */
	| { kind: 'items'; path: string; clauses: Clause[] }
	/** A column equals one of the texts, of any length. */
	| { kind: 'text'; column: string; values: string[] }
	/** A row for which the clause holds has one of the terms in the index of elements (search-entry.ts), which leads to it. */
	| { kind: 'led'; type: ResourceType; table: string; lead: Lead; clause: Clause }
	/** All or any of these clauses hold, or this one does not. */
	| { kind: 'all' | 'any'; clauses: Clause[] }
	| { kind: 'not'; clause: Clause }
	/**
	 * One of these clauses holds, and no row of the table fulfils two of them. Each of them has an index that leads to its rows, so each is searched by
	 * itself: an OR of what stands in different indexes would be tried on every row of the site.
	 */
	| { kind: 'either'; table: string; clauses: Clause[] }
	/** The clauses hold for the row to which a column refers, by its id or `key` (FHIR R4 §3.1.1.4.14, chains). */
	| { kind: 'through'; column: string; table: string; key?: string; clauses: Clause[] }
	/** The same, by a term: `prefix` comes before the row id. */
	| { kind: 'through-terms'; prefix: string; table: string; clauses: Clause[] }
	/** The same, by the text of a reference in the resource itself. */
	| { kind: 'through-element'; path: string; type: ResourceType; table: string; clauses: Clause[] }
	/** The clauses hold for a row that refers to this one by its column (§3.1.1.4.15, `_has`). */
	| { kind: 'referring'; table: string; column: string; clauses: Clause[] }
	/** The same, by the text of a reference to the type in the referring resource. */
	| { kind: 'referring-element'; table: string; paths: readonly string[]; type: ResourceType; clauses: Clause[] };

/** The test of an element. Its form tells where its system and value are. */
export type ElementTest =
	| { kind: 'exists' }
	| { kind: 'token'; form: TokenForm; tokens: Token[] }
	/** Compares text without case and accents: the element begins with it or contains it. `exact` compares the text itself. */
	| { kind: 'text'; mode: 'starts' | 'contains' | 'exact'; values: string[] }
	/** The element is the text of a reference. */
	| { kind: 'reference'; values: string[] }
	| { kind: 'quantity'; alternatives: QuantityAlternative[] }
	/** The URI itself, and with `below` a longer one that begins with it and a slash. */
	| { kind: 'uri'; mode: 'is' | 'below'; values: string[] }
	/** A word of the text sounds like the word. */
	| { kind: 'sound'; word: string }
	/** A date, dateTime, instant or Period. */
	| { kind: 'date'; alternatives: DateAlternative[] }
	/** A plain number. */
	| { kind: 'number'; alternatives: QuantityAlternative[] };

/**
 * The places of system and value. Coding: system and code. Identifier and ContactPoint: system and value. Value: a code, boolean or other
 * primitive itself.
 */
export type TokenForm = 'coding' | 'identifier' | 'value';
