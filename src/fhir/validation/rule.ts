import type { core } from 'zod/mini';
import type { JsonObject } from '#core/json.ts';
import type { Issue } from './fault.ts';

/** The state that one reading of a resource passes from element to element, as zod's parse context. */
export interface Context extends core.ParseContext<core.$ZodIssue> {
	/** The number of nested elements being read. */
	depth: number;
	/** Returns the schema of a resource type; undefined when there is none. */
	readonly resourceOf: (type: string) => core.$ZodType | undefined;
	/** Returns the schema of the sibling of a primitive: `_birthDate`. */
	readonly siblingOf: () => core.$ZodType;
	/** Types by the ids of the resources that the current one contains. */
	readonly contained: ReadonlyMap<string, string>;
	readonly isContained: boolean;
	/** `Patient?identifier=…` is a reference (R4 §3.1.0.11.3). */
	readonly conditionalReferences: boolean;
	/** The largest number of values in a list. */
	readonly repetitionsMax: number;
	/** True when the resources in the entries of a Bundle are read too. */
	readonly entryResources: boolean;
}

/** Adds the faults of an element, beyond its members' own types, to `issues`. Members may have any type. */
export type Rule = (element: JsonObject, context: Context, issues: Issue[]) => void;
