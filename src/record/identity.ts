/** What a person decides about who is who: the same as ADT^A40 and ADT^A37, between two patients that are named by their row ids. */
export interface IdentityEdit {
	/** `merge`: `prior` becomes replaced by `survivor`. `unmerge`: undoes that. */
	operation: 'merge' | 'unmerge';
	survivor: string;
	prior: string;
	/** Values of the business identifiers of survivor and prior, by which the message log is searched. */
	identifiers: readonly string[];
	actor: string;
}

export type IdentityOutcome = { kind: 'done' } | { kind: 'refused'; diagnostics: string };
