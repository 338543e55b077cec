import { Failure } from '#core/failure.ts';
import { isFhirId } from '#record/row-id.ts';
import type { Clause } from '#record/search-plan.ts';
import { termTexts } from '#record/search-term.ts';
import type { ResourceDefinition } from './resource.ts';
import { generatedTypes } from './resources/generated/index.ts';
import { type ParameterOptions, parameterClause } from './search/parameter.ts';

/** The compartments that can be searched (https://hl7.org/fhir/R4/compartmentdefinition.html). */
export const compartments = ['Patient', 'Encounter'] as const;
export type CompartmentName = (typeof compartments)[number];

const byPatient = new Map<string, readonly string[]>(generatedTypes.map(({ type, patient }) => [type, patient]));

/**
 * Returns the reference parameters by which resources of a type belong to a compartment; none for a type that does not belong to it. A type
 * with a table of its own belongs to its patient alone, as in `$everything` and exports.
 */
export function membershipOf(compartment: CompartmentName, { type, table, search }: ResourceDefinition): readonly string[] {
	const names = compartment === 'Encounter' ? ['encounter'] : table.isShared ? (byPatient.get(type) ?? []) : ['patient'];
	return names.filter((name) => {
		const parameter = Object.hasOwn(search, name) ? search[name] : undefined;
		return parameter?.type === 'reference' && (parameter.targets as readonly string[]).includes(compartment);
	});
}

/**
 * Returns the clause for the resources of a type in a compartment.
 * @throws Failure for an id that nothing can have, and for a type that is not in the compartment
 */
export function compartmentClause(
	compartment: CompartmentName,
	id: string,
	definition: ResourceDefinition,
	options: ParameterOptions,
): Clause {
	const names = membershipOf(compartment, definition);
	if (names.length === 0) throw new Failure('unsupported-resource-type', `${definition.type} is not in the compartment of ${compartment}`);
	if (!isFhirId(id)) throw new Failure('not-found', `there is no ${compartment} with this id`);
	const clauses = names.flatMap((name) => {
		const clause = parameterClause(definition, name, `${compartment}/${id}`, options);
		return clause === undefined || clause === 'unknown' ? [] : [clause];
	});
	const [only] = clauses;
	return only !== undefined && clauses.length === 1 ? only : { kind: 'any', clauses };
}

/** Returns the prefixes of the terms by which resources of the types that share a table name the patients to whom they belong. */
export function patientPrefixes(definitions: readonly ResourceDefinition[]): string[] {
	return definitions
		.filter(({ table }) => table.isShared)
		.flatMap((definition) =>
			membershipOf('Patient', definition).map((name) => termTexts.rowPrefix(`${definition.type}.${name}`, 'Patient')),
		);
}

/** Returns the clause for the resources of a type that shares its table which belong to the patient of a row, wherever among the patients that they name. */
export function membershipClause(definition: ResourceDefinition, rowId: string): Clause {
	return { kind: 'any', clauses: patientPrefixes([definition]).map((prefix): Clause => ({ kind: 'patient-terms', prefix, ids: [rowId] })) };
}
