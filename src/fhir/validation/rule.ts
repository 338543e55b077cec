import type { core } from 'zod/mini';
import type { JsonObject } from '#core/json.ts';
import type { Issue } from './fault.ts';

/** What a reading of one resource hands down from element to element, as zod's parse context. */
export interface Context extends core.ParseContext<core.$ZodIssue> {
	/** Elements that are being read, one inside the other. */
	depth: number;
	/** The schema of a resource type; undefined where there is none of it. */
	readonly resourceOf: (type: string) => core.$ZodType | undefined;
	/** Of what stands beside a primitive: `_birthDate`. */
	readonly siblingOf: () => core.$ZodType;
	/** Types by the ids of the resources contained in the one that is being read. */
	readonly contained: ReadonlyMap<string, string>;
	readonly isContained: boolean;
	/** `Patient?identifier=…` is a reference (R4 §3.1.0.11.3). */
	readonly conditionalReferences: boolean;
	/** Values that a list may have. */
	readonly repetitionsMax: number;
	/** The resources in the entries of a Bundle are read, too. */
	readonly entryResources: boolean;
}

/** Adds what is wrong with an element, beyond its members' own types, to `issues`. Holds for members of any type. */
export type Rule = (element: JsonObject, context: Context, issues: Issue[]) => void;
