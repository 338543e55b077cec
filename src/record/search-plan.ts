import type { ResourceType } from './table-shape.ts';

/** What a search asks of one site, as plain data: every clause holds, of each clause any alternative. */
export interface SearchPlan {
	resourceType: ResourceType;
	table: string;
	clauses: Clause[];
	/** Entries of a page at most. */
	count: number;
	/** Where the page before ended; results are in the order of their ids, which is that of creation. */
	after: PagePosition | undefined;
}

export interface PagePosition {
	id: string;
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

/** A clause without alternatives holds for nothing: every value of the parameter was one that no resource can have. */
export type Clause =
	/** A column equals one of the texts. */
	| { kind: 'code'; column: string; values: string[] }
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
	/** A range in two columns, end excluded; open ends are infinite, a row without a date holds null. */
	| { kind: 'date'; columnType: 'date' | 'timestamptz'; startColumn: string; endColumn: string; alternatives: DateAlternative[] };
