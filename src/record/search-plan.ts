import type { ResourceType } from './table-shape.ts';

/** What a search asks of one site, as plain data: all clauses hold, of each clause any condition. */
export interface SearchPlan {
	resourceType: ResourceType;
	table: string;
	clauses: Condition[][];
	/** Entries of a page; one more row is read to know whether there is a next one. */
	count: number;
	/** The last id of the page before. */
	after: string | undefined;
}

/** FHIR R4 §3.1.1.4.5: how the range of a resource's date relates to the range of the parameter. */
export type DatePrefix = 'eq' | 'ne' | 'gt' | 'lt' | 'ge' | 'le' | 'sa' | 'eb';

export type Condition =
	/** A column equals a text. */
	| { kind: 'equals'; column: string; value: string }
	/** A column that holds one row's reference or id. */
	| { kind: 'id'; column: string; value: string }
	/** A lower-case text column contains the text. */
	| { kind: 'substring'; column: string; value: string }
	/** First coding in two columns, further ones in an array of `system|code` and `code`. Undefined: any. */
	| { kind: 'coding'; systemColumn: string; valueColumn: string; furtherColumn: string; system: string | undefined; value: string }
	/** An entry of the site's identifier index. */
	| { kind: 'identifier'; system: string | undefined; value: string | undefined }
	/** `low` and `high` bound the parameter's range, `high` excluded; FHIR instants or dates as the columns' type is. */
	| {
			kind: 'date';
			columnType: 'date' | 'timestamptz';
			startColumn: string;
			endColumn: string | undefined;
			prefix: DatePrefix;
			low: string;
			high: string;
	  }
	/** Nothing can match: a reference to another type, say. */
	| { kind: 'never' };
