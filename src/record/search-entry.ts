import type { TokenForm } from './search-plan.ts';

/**
 * What the index of elements (`search_entry`) holds of a search parameter, and where it stands in a row: at paths of the resource or of
 * its `meta`, or in columns. `scope` names the type and the parameter, as in record/search-term.
 */
export interface IndexedParameter {
	scope: string;
	value: IndexedValue;
	/** Paths to the elements that `:missing` asks for, if the value says less. */
	presence?: readonly string[];
}

export type IndexedValue =
	| { kind: 'token'; paths: readonly string[]; form: TokenForm; of?: 'meta' }
	| { kind: 'reference'; path: string }
	/** A reference, where no row that it names stands in the column, and the identifier of a logical one. `path` leads to the Reference. */
	| { kind: 'other-reference'; path: string; column: string }
	| { kind: 'string' | 'sound' | 'date' | 'number' | 'quantity'; paths: readonly string[] }
	| { kind: 'uri'; paths: readonly string[]; of?: 'meta' }
	/** A code or another text in a column. */
	| { kind: 'code-column' | 'text-column'; column: string }
	/** The id of a row of the type in a column. */
	| { kind: 'row-column'; column: string; type: string }
	| { kind: 'range-columns'; start: string; end: string };

/** A type of resources that the index of elements holds, and all that it holds of it. */
export interface IndexedType {
	type: string;
	/** Where its rows stand, see `TableShape.table`. */
	table: string;
	parameters: readonly IndexedParameter[];
}

/** Names of days, months, years and decades, and of ranges beyond them. Capitals are those of an end on another day than its start. */
export const rangeNames = {
	openStart: 'o',
	farStart: 'f',
	openEnd: 'O',
	start: { decade: 'c', year: 'y', month: 'm', day: 'd' },
	end: { decade: 'C', year: 'Y', month: 'M', day: 'D' },
} as const;
/** Years that have a name: from the first, before the last. Both begin a decade. */
export const namedYears = { first: 1900, last: 2100 } as const;

/** So many of the first digits of a number have a name: one, two, and so on. */
export const namedDigits = 3;
/** Powers of ten below the first and from the last on have one name, without digits. */
export const namedPowers = { first: -12, last: 15 } as const;
/** The name of a number of which only a bound is known: `<5`. */
export const boundedNumber = '<';

/** Letters at the start of a string that are a term. */
export const startLengths = [2, 4] as const;
