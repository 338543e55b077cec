import type { ElementInclusion, Inclusion, SearchPlan } from '#record/search-plan.ts';
import type { FhirLimits } from '../limits.ts';
import type { Shape } from '../shape.ts';

export type SearchLimits = Pick<FhirLimits, 'searchCountDefault' | 'searchCountMax' | 'searchParametersMax' | 'searchValuesMax'>;

export interface ParsedSearch {
	plan: Omit<SearchPlan, 'after'>;
	inclusions: (Inclusion | ElementInclusion)[];
	/** Opaque cursor of the page before, when the request carries one. */
	cursor: string | undefined;
	/** The parameters that were applied, in their order, without the cursor: what the self link shows and a cursor is bound to. */
	applied: [string, string][];
	/** Whether only the number of matches is asked for. */
	counting: boolean;
	/** What of each resource is shown; all where undefined. */
	shape: Shape | undefined;
	/** Whether the number of all matches is asked for. */
	total: boolean;
}
