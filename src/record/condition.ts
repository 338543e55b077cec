import type { SearchPlan, Token } from './search-plan.ts';

/** A search by which a FHIR client names the resource that it writes or refers to. */
export interface Condition {
	/** The search as the client wrote it. A reference has its type in front. */
	criteria: string;
	plan: SearchPlan;
	/** The identifier, where the search is for one and for nothing else. */
	identifier?: Token | undefined;
	/** The matches. They are filled in during the site's turn. */
	matched: Matches | undefined;
}

/** The matches of a condition. The survivor stands for a patient who was merged. */
export interface Matches {
	/** FHIR ids, two at most. */
	ids: readonly string[];
	/** True when a merge led from what the condition matches to the resource. */
	throughMerge: boolean;
}
