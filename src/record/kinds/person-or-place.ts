import type { JsonObject } from '#core/json.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { identified, makeIdentified, reviseIdentified } from '../apply/identified.ts';
import { referring } from '../apply/refer.ts';
import type { References } from '../apply/references.ts';
import { type Row, resourceOf } from '../apply/rows.ts';
import { identifiersOf, identifierTerm, peopleAndPlaces } from '../holdings/people-and-places.ts';
import { identifierKey } from '../identity/identifier-key.ts';
import { keepsName } from '../identity/known-name.ts';
import { messageOrigin, type PersonOrPlaceType } from '../person-or-place.ts';
import type { Identifier } from '../resource-patch.ts';

/** A practitioner, organization or location that a message names. It stands before the changes whose references mean it. */
export interface PersonOrPlaceChange {
	kind: 'person-or-place';
	resourceType: PersonOrPlaceType;
	/** Each of them alone leads to the resource. */
	identifiers: readonly [Identifier, ...Identifier[]];
	/** Names of the references that mean it, made by `referenceName`. */
	named: readonly string[];
	/** The content that the message states, without identifiers. */
	resource: JsonObject;
	/** One that is not known is made, or stays a reference by identifier and name. */
	unknown: 'create' | 'ignore';
	/** The field or path that names it, for flags. */
	field: string;
}

export const personOrPlaceKind = defineChange<PersonOrPlaceChange>({
	kind: 'person-or-place',
	keys({ resourceType, identifiers }, keys) {
		const { named } = keys.of(peopleAndPlaces);
		for (const { value } of identifiers) named.add(identifierTerm(resourceType, value));
	},
	apply(context, change, references) {
		const row = personOrPlace(context, change, references);
		if (row !== undefined) for (const name of change.named) references.setNamed(name, row);
	},
});

/** Returns the resource that is meant; undefined when there is none, or nobody can tell which. */
function personOrPlace(context: ApplyContext, change: PersonOrPlaceChange, references: References): Row | undefined {
	const found = identified(context, change);
	if (found === 'unclear') return undefined;
	const resource = referring(change.resource, references.named);
	if (found === undefined)
		return change.unknown === 'create'
			? makeIdentified(context, change.resourceType, { identifier: [...change.identifiers], ...resource })
			: undefined;
	return found.links['origin'] === messageOrigin && change.unknown === 'create'
		? revised(context, change, found, resource, references)
		: found;
}

/**
 * What the message states takes the place of what was stated before. A name that says less than the known one does not, nor does what another
 * field of the message says of the same resource, under another of its identifiers.
 */
function revised(context: ApplyContext, { identifiers }: PersonOrPlaceChange, held: Row, stated: JsonObject, references: References): Row {
	const before = resourceOf(held);
	const numbers = identifiersOf(before);
	const told = new Set(numbers.map(identifierKey));
	const values = new Set(numbers.map(({ value }) => value));
	// A number without its authority, or by another name of it, is known already.
	const further = identifiers.filter((identifier) => !told.has(identifierKey(identifier)) && !values.has(identifier.value));
	const content = references.isNamed(held) ? { ...stated, ...before } : { ...before, ...stated };
	const resource: JsonObject = { ...content, identifier: [...numbers, ...further] };
	if (before['name'] !== undefined && keepsName(before['name'], stated['name'], [...values])) resource['name'] = before['name'];
	return reviseIdentified(context, held, resource);
}
