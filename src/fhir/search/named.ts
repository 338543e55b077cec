import { Failure } from '#core/failure.ts';
import type { ResourceDefinition, SearchParameter } from '../resource.ts';
import type { SearchTerms } from './subsumption.ts';

/** A parameter in a search. */
export interface Named {
	/** The name as it was written, for failure messages. */
	name: string;
	modifier: string | undefined;
	value: string;
	parameter: SearchParameter;
	/** The resource type that has the parameter. */
	definition: ResourceDefinition;
	/** The FHIR base URL. */
	base: string;
	/** The value sets and code systems of the site, where they are at hand. */
	terms: SearchTerms | undefined;
	/** The largest number of values for which one may stand. */
	valuesMax: number;
}

export function unsupportedModifier(name: string): Failure {
	return new Failure('not-supported', `the modifier of ${name} is not supported`, { location: { expression: name } });
}
