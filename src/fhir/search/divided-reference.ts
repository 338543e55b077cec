import type { SearchParameter } from '../resource.ts';

export type ReferenceParameter = SearchParameter & { type: 'reference' };
type ColumnReference = ReferenceParameter & { match: 'column' };
type ElementReference = ReferenceParameter & { match: 'element' };

export interface DividedReference {
	/** The targets whose rows stand in the column. */
	inColumn: ColumnReference;
	/** All other targets, and references to other servers: the resource itself has them, and the index of elements leads to it. */
	others: ElementReference;
}

/**
 * Divides a parameter whose references stand in two places: those to one type in a column, and all others only in the resource. The subject of an
 * Observation is nearly always a patient, but may be a Group, a Device or a Location. Returns undefined for a parameter of one place.
 */
export function dividedReference(parameter: SearchParameter): DividedReference | undefined {
	if (parameter.type !== 'reference' || parameter.match !== 'column' || parameter.path === undefined) return undefined;
	const { lead, path, ...column } = parameter;
	const [target, ...others] = parameter.targets;
	if (others.length === 0) return undefined;
	return {
		inColumn: { ...column, path, targets: [target] },
		others: {
			...{ type: 'reference', match: 'element', path: `${path}.reference`, targets: others, documentation: parameter.documentation },
			...(lead === undefined ? {} : { lead }),
		},
	};
}

/** Returns the parameters of one place each. */
export function placesOf(parameter: ReferenceParameter): readonly ReferenceParameter[] {
	const divided = dividedReference(parameter);
	return divided === undefined ? [parameter] : [divided.inColumn, divided.others];
}
