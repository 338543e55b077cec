import type { AnyInclusion, SearchPlan } from '#record/search-plan.ts';
import type { ResourceType } from '#record/table-shape.ts';
import type { FhirLimits } from '../limits.ts';
import type { Shape } from '../shape.ts';

export type SearchLimits = Pick<FhirLimits, 'searchCountDefault' | 'searchCountMax' | 'searchParametersMax' | 'searchValuesMax'>;

/** An inclusion that is applied to every resource of a type, whether it matches or was included itself. */
export interface Iteration {
	of: ResourceType;
	inclusion: AnyInclusion;
}

export interface ParsedSearch {
	plan: Omit<SearchPlan, 'after'>;
	inclusions: AnyInclusion[];
	iterations: Iteration[];
	/** The scopes that are missing for further inclusions, which are left out. */
	withheld: string[];
	/** The opaque cursor of the previous page, if the request has one. */
	cursor: string | undefined;
	/** The parameters that were applied, in their order, without the cursor. The self link shows them, and a cursor is bound to them. */
	applied: [string, string][];
	/** True when only the number of matches is wanted. */
	counting: boolean;
	/** The part of each resource that is shown; undefined means all. */
	shape: Shape | undefined;
	/** True when the total number of matches is wanted. */
	total: boolean;
}
