import type { JsonObject } from '#core/json.ts';

/** The types of resources by which messages refer to people and places. */
export const personOrPlaceTypes = ['Practitioner', 'Organization', 'Location'] as const;
export type PersonOrPlaceType = (typeof personOrPlaceTypes)[number];

const types: ReadonlySet<unknown> = new Set(personOrPlaceTypes);

export function isPersonOrPlace(type: unknown): type is PersonOrPlaceType {
	return types.has(type);
}

/** Types of resources that messages find by an identifier: people, places, and the orders that results are based on. */
export type IdentifiedType = PersonOrPlaceType | 'ServiceRequest';

export function isIdentified(type: unknown): type is IdentifiedType {
	return type === 'ServiceRequest' || isPersonOrPlace(type);
}

/** The link `origin` of a resource that messages made. What a client or an import writes has none, and messages leave it as it is. */
export const messageOrigin = 'message';

/** Returns a reference as its message states it, whether or not it leads to a resource: by identifier and name, if it has any. */
export function statedReference(stated: JsonObject): JsonObject {
	const { reference: _reference, ...named } = stated;
	return Object.keys(named).length > 0 ? named : stated;
}

/**
 * Returns the name by which a reference means a person, place or order within its message: the identifier as it is stated, else what is displayed
 * of a location. Undefined for any other object, and for a reference that leads to a resource already.
 */
export function referenceName({ type, reference, identifier, display }: JsonObject): string | undefined {
	if (!isIdentified(type) || reference !== undefined) return undefined;
	const { system, value } = (identifier ?? {}) as JsonObject;
	if (typeof value === 'string') {
		const named = typeof system === 'string' ? system : '';
		return `${type} ${named.length} ${named}${value}`;
	}
	return type === 'Location' && typeof display === 'string' ? `${type} ${display}` : undefined;
}
