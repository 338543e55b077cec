import { canonical, type JsonObject } from '#core/json.ts';
import { identifiersOf, peopleAndPlaces } from '../holdings/people-and-places.ts';
import { siteAuthorities } from '../holdings/site-authorities.ts';
import { isIndexable, systemOf } from '../identity/identifier-key.ts';
import { type IdentifiedType, messageOrigin } from '../person-or-place.ts';
import type { Identifier } from '../resource-patch.ts';
import type { ApplyContext } from './context.ts';
import { putKeyed } from './put-keyed.ts';
import { revise } from './revise.ts';
import { newRow, type Row, resourceOf } from './rows.ts';
import type { WorkingSet } from './working-set.ts';

/** So many of these flags are kept for one message: a document may name thousands. */
const flagsMax = 20;

/** A resource as a message names it. */
interface Named {
	resourceType: IdentifiedType;
	/** Each of them alone leads to the resource. */
	identifiers: readonly Identifier[];
	/** The field or path that names it, for flags. */
	field: string;
}

/**
 * Returns the resource that has one of the identifiers; undefined when there is none. `unclear`: several have them, which is flagged, or no
 * index can hold them. `isPossible` leaves out others that have them by right.
 */
export function identified(
	{ set, flags }: ApplyContext,
	named: Named,
	isPossible: (row: Row) => boolean = () => true,
): Row | undefined | 'unclear' {
	if (!named.identifiers.every((identifier) => isIndexable(identifier.value, systemOf(identifier)))) return 'unclear';
	const [held, another] = matching(set, named, isPossible);
	if (another === undefined && !set.of(peopleAndPlaces).isCrowded) return held;
	if (flags.filter(({ code }) => code === 'several-resources').length >= flagsMax) return 'unclear';
	const text = `${named.field} names a ${named.resourceType} by an identifier that several resources have; it refers to none of them`;
	flags.push({ code: 'several-resources', text });
	return 'unclear';
}

/** Returns the resources that have one of the identifiers. What clients wrote comes before what messages made. */
function matching(set: WorkingSet, { resourceType, identifiers }: Named, isPossible: (row: Row) => boolean): Row[] {
	const { known } = set.of(siteAuthorities);
	const found = new Map<string, Row>();
	for (const identifier of identifiers) {
		const system = systemOf(identifier);
		const isMeant = (other: Identifier) =>
			other.value === identifier.value && other['use'] !== 'old' && (system === '' || known.isSame(systemOf(other), system));
		for (const row of set.of(peopleAndPlaces).of(resourceType, identifier.value)) {
			if (isPossible(row) && identifiersOf(resourceOf(row)).some(isMeant)) found.set(row.id, row);
		}
	}
	const rows = [...found.values()];
	const written = rows.filter(({ links }) => links['origin'] !== messageOrigin);
	return written.length > 0 ? written : rows;
}

/** Makes the resource that a message names first, and returns its row. */
export function makeIdentified(
	context: ApplyContext,
	resourceType: IdentifiedType,
	resource: JsonObject,
	links: Readonly<Record<string, string>> = {},
): Row {
	const row = newRow(context, {
		...{ resourceType, id: context.newId(), text: JSON.stringify(resource), resource },
		links: { ...links, origin: messageOrigin },
	});
	context.changed.push(row);
	putKeyed(context.set, row);
	return row;
}

/** Returns the next version of a resource, or its row itself when the content says the same. */
export function reviseIdentified(context: ApplyContext, held: Row, resource: JsonObject): Row {
	if (canonical(resource) === canonical(resourceOf(held))) return held;
	const row = revise(context, held, JSON.stringify(resource), resource, held.links);
	if (row !== held) putKeyed(context.set, row);
	return row;
}
