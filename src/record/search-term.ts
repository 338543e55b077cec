import { hash } from 'node:crypto';

/**
 * A term is what a search compares: a parameter of a resource type, and a value that it has. It is stored as a number of 64 bits, the start
 * of a SHA-256; the database makes the same number (`tributary_term`). Two values of a site that share a number are not to be expected: at
 * a thousand million terms the chance for one search is one in 10^10.
 */
export type Term = string;

/** The number of a term's text, as PostgreSQL writes a bigint. */
export function termOf(text: string): Term {
	return BigInt.asIntN(64, BigInt(`0x${hash('sha256', text, 'hex').slice(0, 16)}`)).toString();
}

/** The texts of terms. `scope` names the resource type and the parameter: `Claim.status`. No part of a FHIR value has U+0001. */
export const termTexts = {
	/** The parameter has a value. */
	present: (scope: string) => `${scope}\u0001p`,
	/** A code or another token, whatever its system. */
	code: (scope: string, code: string) => `${scope}\u0001c${code}`,
	/** A system, whatever the code. */
	system: (scope: string, system: string) => `${scope}\u0001s${system}`,
	/** A code of a system; the system is empty if the token has none. */
	coded: (scope: string, system: string, code: string) => `${scope}\u0001t${system}\u0001${code}`,
	/** What comes before the row id in a reference to a resource of this service. */
	rowPrefix: (scope: string, type: string) => `${scope}\u0001r${type}/`,
	/** A reference as it is written, a canonical URL or a URI. */
	text: (scope: string, text: string) => `${scope}\u0001u${text}`,
	/** The identifier of a logical reference. */
	logical: (scope: string, system: string, value: string) => `${scope}\u0001i${system}\u0001${value}`,
	logicalValue: (scope: string, value: string) => `${scope}\u0001j${value}`,
	/** The first letters of a folded text; `length` is how many there are of a text that is not shorter. */
	start: (scope: string, length: number, letters: string) => `${scope}\u0001x${length}${letters}`,
	/** What comes before the sound of a word. */
	soundPrefix: (scope: string) => `${scope}\u0001y`,
	/** A part of time in which a range starts or ends, and a range of numbers (record/search-entry). */
	range: (scope: string, name: string) => `${scope}\u0001d${name}`,
	number: (scope: string, name: string) => `${scope}\u0001n${name}`,
} as const;
