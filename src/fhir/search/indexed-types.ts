import { indexedTypeOf } from '../indexed-parameters.ts';
import { resources } from '../resources/index.ts';
import { commonParameters } from './parameter.ts';

/** Everything that the index of elements holds. */
export const indexedTypes = Object.values(resources).flatMap(
	(definition) => indexedTypeOf(definition, { ...commonParameters, ...definition.search }) ?? [],
);
