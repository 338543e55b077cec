import type { JsonObject } from '#core/json.ts';
import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';
import { RowIndex } from '../apply/row-index.ts';
import { type Row, resourceOf } from '../apply/rows.ts';
import type { IdentifiedType } from '../person-or-place.ts';
import type { Identifier } from '../resource-patch.ts';
import { type Term, termOf, termTexts } from '../search-term.ts';

/**
 * So many people and places of a site are read beside two for each identifier that a batch names. A client may give one number to any number of
 * resources; where there are more, nobody can tell from those that were read whom a message means. No setting, because only such a site
 * meets it.
 */
export const furtherMax = 1000;

/** Returns the term by which resources with an identifier of this value are found, whatever its system. */
export function identifierTerm(type: IdentifiedType, value: string): Term {
	return termOf(termTexts.code(`${type}.identifier`, value));
}

export function identifiersOf(resource: JsonObject): Identifier[] {
	const list = resource['identifier'];
	return Array.isArray(list) ? (list as JsonObject[]).filter(hasValue) : [];
}

function hasValue(identifier: JsonObject): identifier is Identifier {
	return typeof identifier['value'] === 'string';
}

/** Practitioners, organizations, locations and orders by the values of their identifiers. */
export class PeopleAndPlaces {
	readonly #rows: HeldRows;
	readonly #index: RowIndex;
	/** True when more resources have the identifiers than were read. */
	isCrowded = false;

	constructor(rows: HeldRows) {
		this.#rows = rows;
		this.#index = new RowIndex(rows);
	}

	addStored(row: Row): void {
		for (const { value } of identifiersOf(resourceOf(row))) this.#index.addStored(keyOf(row.resourceType, value), row);
	}

	/** Returns the resources that have, or had, an identifier of this value. */
	of(type: IdentifiedType, value: string): Row[] {
		return this.#index.of(type, keyOf(type, value));
	}

	put(row: Row): void {
		this.#rows.put(row);
		for (const { value } of identifiersOf(row.resource ?? resourceOf(row))) this.#index.put(keyOf(row.resourceType, value), row);
	}
}

function keyOf(type: string, value: string): string {
	return `${type} ${value}`;
}

/** The terms are those of identifiers, made by `identifierTerm`. */
export interface PeopleAndPlacesKeys {
	named: Set<Term>;
	/** Each with an identifier value of its patient: orders are many, and their numbers may be given anew. */
	orders: { term: Term; patient: string }[];
}

/** Practitioners, organizations, locations and orders. */
export const peopleAndPlaces: Holding<PeopleAndPlacesKeys, PeopleAndPlaces> = {
	name: 'people and places',
	keys: () => ({ named: new Set(), orders: [] }),
	held: (rows) => new PeopleAndPlaces(rows),
};
