import { Failure } from '#core/failure.ts';
import { rowIdOf } from '#record/row-id.ts';
import { type PartialScope, type Permission, partsOf, permits, type Scopes } from '#record/scopes.ts';
import type { Clause, Included } from '#record/search-plan.ts';
import { compartmentClause, membershipOf } from './compartment.ts';
import type { ResourceDefinition } from './resource.ts';
import { definitionOf } from './resources/index.ts';
import { type ParameterOptions, parameterClause } from './search/parameter.ts';

/** A clause that no resource fulfils. */
const nothing: Clause = { kind: 'any', clauses: [] };

/**
 * Returns the condition of the resources of a type that the scopes of a caller reach; undefined for all of them. Where the scopes reach
 * none, or say something that cannot be carried out, the condition is one that nothing fulfils.
 */
export function scopeClause(
	definition: ResourceDefinition,
	permission: Permission,
	scopes: Scopes | undefined,
	{ base, limits }: Pick<ParameterOptions, 'base' | 'limits'>,
): Clause | undefined {
	if (permits(scopes, definition.type, permission)) return undefined;
	// The resource in its security context has a say about a Binary, and no condition of its own can ask that.
	if (definition.type === 'Binary') return nothing;
	// What limits a scope may search what its bearer may not.
	const options: ParameterOptions = { base, limits, scopes: undefined };
	return { kind: 'any', clauses: partsOf(scopes, definition.type, permission).map((part) => partClause(definition, part, options)) };
}

/** Returns what is included within the limits of the caller's scopes; undefined if these permit nothing of the type. */
export function withinScopes<Inclusion extends Included>(
	inclusion: Inclusion,
	permission: Permission,
	{ scopes, ...options }: Pick<ParameterOptions, 'base' | 'limits' | 'scopes'>,
): Inclusion | undefined {
	if (permits(scopes, inclusion.includedType, permission)) return inclusion;
	const definition = definitionOf(inclusion.includedType);
	if (definition === undefined || partsOf(scopes, definition.type, permission).length === 0) return undefined;
	const reached = scopeClause(definition, permission, scopes, options);
	return reached === undefined ? inclusion : { ...inclusion, reached: [reached] };
}

function partClause(definition: ResourceDefinition, { patient, search }: PartialScope, options: ParameterOptions): Clause {
	const clauses: Clause[] = [];
	if (patient !== undefined) clauses.push(ofPatient(definition, patient, options));
	if (search !== undefined) clauses.push(...ofSearch(definition, search, options));
	return clauses.length === 0 ? nothing : { kind: 'all', clauses };
}

function ofPatient(definition: ResourceDefinition, patient: string, options: ParameterOptions): Clause {
	if (definition.type === 'Patient') return { kind: 'reference', column: 'id', ids: [rowIdOf(patient)] };
	return membershipOf('Patient', definition).length === 0 ? nothing : compartmentClause('Patient', patient, definition, options);
}

/** A parameter that the type does not have, that has no value, or that cannot be searched would not limit anything. */
function ofSearch(definition: ResourceDefinition, search: string, options: ParameterOptions): Clause[] {
	const pairs = [...new URLSearchParams(search)];
	if (pairs.length === 0) return [nothing];
	return pairs.map(([name, value]) => {
		try {
			const clause = parameterClause(definition, name, value, options);
			return clause === undefined || clause === 'unknown' ? nothing : clause;
		} catch (error) {
			if (error instanceof Failure) return nothing;
			throw error;
		}
	});
}
