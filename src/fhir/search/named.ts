import { Failure } from '#core/failure.ts';
import type { ResourceDefinition, SearchParameter } from '../resource.ts';

/** A parameter as a search names it. */
export interface Named {
	/** As it was written, for the words of a failure. */
	name: string;
	modifier: string | undefined;
	value: string;
	parameter: SearchParameter;
	/** Whose parameter it is. */
	definition: ResourceDefinition;
	/** The FHIR base URL. */
	base: string;
}

export function unsupportedModifier(name: string): Failure {
	return new Failure('not-supported', `the modifier of ${name} is not supported`, { location: { expression: name } });
}
