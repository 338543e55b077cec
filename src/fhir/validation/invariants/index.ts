import type { Rule } from '../rule.ts';
import { administrativeInvariants } from './administrative.ts';
import { bundleInvariants } from './bundle.ts';
import { clinicalInvariants } from './clinical.ts';
import { conformanceInvariants } from './conformance.ts';
import { datatypeInvariants } from './datatypes.ts';
import { definitionalInvariants } from './definitional.ts';
import type { Invariant } from './invariant.ts';

/** Invariants by the path of the element in its StructureDefinition. */
export const invariants: Readonly<Record<string, readonly Invariant[]>> = {
	...datatypeInvariants,
	...clinicalInvariants,
	...bundleInvariants,
	...conformanceInvariants,
	...administrativeInvariants,
	...definitionalInvariants,
};

const byPath = new Map(Object.entries(invariants));

export function invariantsOf(path: string): readonly Rule[] {
	return (byPath.get(path) ?? []).map(({ rule }) => rule);
}
