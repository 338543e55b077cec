import type { ColumnType, ResourceType } from './table-shape.ts';

/** What a search asks of one site, as plain data: every clause holds. */
export interface SearchPlan {
	resourceType: ResourceType;
	table: string;
	clauses: Clause[];
	/** Results are in this order, and then in that of the row ids. */
	sort: SortKey[];
	/** Entries of a page at most. */
	count: number;
	/** Where the page before ended. */
	after: PagePosition | undefined;
	/** How much of a resource that is rendered when it is read the answer needs. */
	extent: Extent;
}

/** Of a study: all, all but its instances, or neither those nor its series. */
export type Extent = 'whole' | 'outline' | 'head';

export interface SortKey {
	column: string;
	columnType: ColumnType;
	/** Whether a row may have no value. */
	nullable: boolean;
	descending: boolean;
}

export interface PagePosition {
	/** Row id. */
	id: string;
	/** Of each sort key, in PostgreSQL's text form. */
	keys: (string | null)[];
}

/** What else a page brings beside its matches (FHIR R4 §3.1.1.5.4), by a column that refers to another row. */
export interface Inclusion {
	/** `forward`: what a match refers to by the column. `reverse`: what refers to a match by it. */
	direction: 'forward' | 'reverse';
	/** The table that has the column. */
	table: string;
	column: string;
	/** Type and table of what is included. */
	includedType: ResourceType;
	includedTable: string;
}

/** The same by an element that no column holds: its references are read from the matches. */
export interface ElementInclusion {
	direction: 'element';
	/** Names of the elements on the way to the references. */
	path: readonly string[];
	includedType: ResourceType;
	includedTable: string;
}

/** FHIR R4 §3.1.1.4.5: how the range of a resource's date relates to the range of the parameter. */
export type DatePrefix = 'eq' | 'ne' | 'gt' | 'lt' | 'ge' | 'le' | 'sa' | 'eb';

/** `low` is within the range, `high` is the first moment after it; in the text form of the columns' type. */
export interface DateAlternative {
	prefix: DatePrefix;
	low: string;
	high: string;
}

/** FHIR R4 §3.1.1.4.10. System undefined: any; empty: none. Value undefined: any of the system. */
export interface Token {
	system: string | undefined;
	value: string | undefined;
}

/** A number with the range that its digits leave open (FHIR R4 §3.1.1.4.6): `low` within, `high` the first beyond. */
export interface QuantityAlternative {
	prefix: DatePrefix;
	low: string;
	high: string;
	value: string;
	/** Undefined: any; empty: none. */
	system: string | undefined;
	/** Code or unit. */
	code: string | undefined;
}

/** A clause without alternatives holds for nothing: every value of the parameter was one that no resource can have. */
export type Clause =
	/** A column equals one of the texts. */
	| { kind: 'code'; column: string; values: string[] }
	/** A list column holds one of the texts. */
	| { kind: 'member'; column: string; values: string[] }
	/** A list column is not empty. */
	| { kind: 'listed'; column: string }
	/** A column holds anything at all. */
	| { kind: 'present'; column: string }
	/** A uuid column: the row's id, or what it refers to. */
	| { kind: 'reference'; column: string; ids: string[] }
	/** A folded text column contains one of the folded texts. */
	| { kind: 'string'; column: string; values: string[] }
	/** The first coding stands in two columns; further ones in an array of `system|code`, `system|` and `code`. */
	| { kind: 'coding'; systemColumn: string; valueColumn: string; furtherColumn: string; tokens: Token[] }
	/** Entries of the site's identifier index. */
	| { kind: 'identifier'; tokens: Token[] }
	/** A range in two columns, end excluded; open ends are infinite, a row without a date holds null. None is longer than `longestMs`. */
	| {
			kind: 'date';
			columnType: 'date' | 'timestamptz';
			startColumn: string;
			endColumn: string;
			longestMs?: number;
			alternatives: DateAlternative[];
	  }
	/** A moment in one column. */
	| { kind: 'moment'; column: string; alternatives: DateAlternative[] }
	/** Elements of the resource itself, found by a path: one of them passes the test. */
	| { kind: 'element'; paths: readonly string[]; test: ElementTest }
	/** All of these hold, or any, or this one does not. */
	| { kind: 'all' | 'any'; clauses: Clause[] }
	| { kind: 'not'; clause: Clause }
	/** The row that a column refers to, by its id or `key`, is one for which the clauses hold (FHIR R4 §3.1.1.4.14, chains). */
	| { kind: 'through'; column: string; table: string; key?: string; clauses: Clause[] }
	/** A row that refers to this one by its column is one for which the clauses hold (§3.1.1.4.15, `_has`). */
	| { kind: 'referring'; table: string; column: string; clauses: Clause[] };

/** What an element is tested for; its form says where its system and value stand. */
export type ElementTest =
	| { kind: 'exists' }
	| { kind: 'token'; form: TokenForm; tokens: Token[] }
	/** Folded text: the element begins with it or contains it; `exact` is the text itself. */
	| { kind: 'text'; mode: 'starts' | 'contains' | 'exact'; values: string[] }
	/** The element is the text of a reference. */
	| { kind: 'reference'; values: string[] }
	| { kind: 'quantity'; alternatives: QuantityAlternative[] };

/** Coding: system and code. Identifier and ContactPoint: system and value. Value: a code, boolean or other primitive itself. */
export type TokenForm = 'coding' | 'identifier' | 'value';
