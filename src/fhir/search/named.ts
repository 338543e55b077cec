import { Failure } from '#core/failure.ts';
import type { ResourceDefinition, SearchParameter } from '../resource.ts';
import type { SearchTerms } from './subsumption.ts';
import type { SearchValues } from './values.ts';

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
	/** The values of the search. One of them may stand for as many as a search may have. */
	values: SearchValues;
}

export function unsupportedModifier(name: string): Failure {
	return new Failure('not-supported', `the modifier of ${name} is not supported`, { location: { expression: name } });
}

/** Tells whether a parameter leads to resources. A canonical URL names no row of this service. */
export function namesResources(parameter: SearchParameter & { type: 'reference' }): boolean {
	if (parameter.match === 'element') return parameter.path.endsWith('.reference');
	return parameter.match !== 'term' || parameter.walks.length > 0;
}
