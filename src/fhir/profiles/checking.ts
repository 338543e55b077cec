import type { JsonObject } from '#core/json.ts';
import type { Compiled } from './compile.ts';
import type { Invariants } from './fhir-path.ts';
import type { Effort, Findings } from './findings.ts';

/** A check looks things up here. */
export interface Definitions {
	profile(canonical: string): Compiled | undefined;
	/** Tells whether a value set has a code; undefined when that is not known here. Without a system, a code of any system counts. */
	member(valueSet: string, system: string | undefined, code: string): boolean | undefined;
}

/** The state of one check. */
export interface Checking {
	definitions: Definitions;
	findings: Findings;
	effort: Effort;
	invariants: Invariants;
	/** The resource whose contained resources a reference may name. */
	resource: JsonObject;
	/** Resources of the same Bundle by their full URLs. */
	bundle: ReadonlyMap<string, JsonObject>;
	/** The name of the profile that is checked, for texts. */
	name: string;
	/** How many references led to the resource. */
	followed: number;
}
