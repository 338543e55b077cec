/** A person's decision to merge or separate two patients: the same as ADT^A40 and ADT^A37, with the patients named by row ids. */
export interface IdentityEdit {
	/** `merge` replaces `prior` by `survivor`; `unmerge` undoes that. */
	operation: 'merge' | 'unmerge';
	survivor: string;
	prior: string;
	/** Values of the business identifiers of survivor and prior, by which the message log is searched. */
	identifiers: readonly string[];
	actor: string;
}

export type IdentityOutcome = { kind: 'done' } | { kind: 'refused'; diagnostics: string };
