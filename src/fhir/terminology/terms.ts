/** Code systems and value sets in the form in which they are kept: what answers need, and nothing else. */

/** A concept: its code, its display, and the concepts below it. */
export type Concept = readonly [code: string, display?: string, below?: readonly Concept[]];

export interface CodeSystem {
	kind: 'CodeSystem';
	url: string;
	version?: string;
	name: string;
	/** True when all concepts are here. */
	whole: boolean;
	/** True when codes differ by case. */
	exact: boolean;
	concepts: readonly Concept[];
}

export interface ValueSet {
	kind: 'ValueSet';
	url: string;
	version?: string;
	name: string;
	/** Undefined when its publisher gives only an expansion. */
	include?: readonly Include[];
	exclude?: readonly Include[];
	/** The codes that its publisher lists, by their systems; absent where the definition says it all. */
	expansion?: readonly { system: string; concepts: readonly Concept[] }[];
}

/** A part of a value set. All of its conditions hold for a code. */
export interface Include {
	system?: string;
	concepts?: readonly Concept[];
	filters?: readonly Filter[];
	valueSets?: readonly string[];
}

export interface Filter {
	property: string;
	op: string;
	value: string;
}

/** Tells whether a version is the one that is named. `6.1` names every `6.1.x`. */
export function isVersion(version: string | undefined, named: string): boolean {
	return version === named || (version?.startsWith(`${named}.`) ?? false);
}
