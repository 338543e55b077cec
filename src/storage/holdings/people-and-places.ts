import { type PeopleAndPlacesKeys, peopleAndPlaces, peopleAndPlacesMax } from '#record/holdings/people-and-places.ts';
import { isIdentified, personOrPlaceTypes } from '#record/person-or-place.ts';
import type { Term } from '#record/search-term.ts';
import { type Naming, siteOf } from '../reading.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import { plainArray, type Statement, textArray } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

/** Selects what has one of the terms of its site, with one look-up for each site. */
function lookUp(rows: ResourceRows, keys: string, types: string): string {
	return `
select ${rows.columns('r')}, r.resource_type
from unnest(${keys}) as k (site_id, terms)
cross join lateral (
	select * from ${rows.shape.keptIn} o where o.site_id = k.site_id and ${types} and o.terms && k.terms::bigint[] and not o.deleted
	limit ${peopleAndPlacesMax} offset 0
) r`;
}

/** Finds the practitioners, organizations and locations of the first two parameters, and the orders of the others. */
export function findPeopleAndPlaces(rows: ResourceRows): Statement {
	const people = `o.resource_type in (${personOrPlaceTypes.map((type) => `'${type}'`).join(', ')})`;
	const orders = "o.resource_type = 'ServiceRequest'";
	return {
		name: 'find_people_and_places',
		text: `${lookUp(rows, '$1::uuid[], $2::text[]', people)}\nunion all${lookUp(rows, '$3::uuid[], $4::text[]', orders)}`,
	};
}

/** Reads the people, places and orders that messages name by identifiers. Nothing is sent where no message does. */
export function storedPeopleAndPlaces(tables: ResourceTables): StoredHolding {
	// An order has the columns of the others, and its patient.
	const rows = tables.of('ServiceRequest');
	const byTerm = findPeopleAndPlaces(rows);
	return {
		async read(reading) {
			const naming = reading.naming(peopleAndPlaces);
			if (naming.length === 0) return;
			const values = [...termsOf(naming, ({ named }) => named), ...termsOf(naming, ({ orders }) => orders)];
			const counts = new Map<string, number>();
			for (const cells of await reading.run(byTerm, values)) {
				const type = cells[rows.width];
				if (!isIdentified(type)) throw new Error('a row of another type was read');
				const held = reading.setOf(cells).of(peopleAndPlaces);
				held.addStored({ ...rows.rowOf(cells), resourceType: type });
				const count = (counts.get(siteOf(cells)) ?? 0) + 1;
				counts.set(siteOf(cells), count);
				if (count >= peopleAndPlacesMax) held.isCrowded = true;
			}
		},
	};
}

/** The sites, and the terms of each, as two parameters. */
function termsOf(naming: readonly Naming<PeopleAndPlacesKeys>[], of: (keys: PeopleAndPlacesKeys) => Set<Term>): [string, string] {
	const sites = naming.filter(({ keys }) => of(keys).size > 0);
	return [plainArray(sites.map(({ siteId }) => siteId)), textArray(sites.map(({ keys }) => textArray([...of(keys)])))];
}
