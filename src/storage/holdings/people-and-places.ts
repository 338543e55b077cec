import { peopleAndPlaces, peopleAndPlacesMax } from '#record/holdings/people-and-places.ts';
import { isPersonOrPlace, personOrPlaceTypes } from '#record/person-or-place.ts';
import { siteOf } from '../reading.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import { plainArray, type Statement, textArray } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

/** Finds the practitioners, organizations and locations that have one of the terms of their site, with one look-up for each site. */
export function findPeopleAndPlaces(rows: ResourceRows): Statement {
	return {
		name: 'find_people_and_places',
		text: `
select ${rows.columns('r')}, r.resource_type
from unnest($1::uuid[], $2::text[]) as k (site_id, terms)
cross join lateral (
	select * from ${rows.shape.keptIn} o where o.site_id = k.site_id and o.terms && k.terms::bigint[]
		and o.resource_type in (${personOrPlaceTypes.map((type) => `'${type}'`).join(', ')}) and not o.deleted
	limit ${peopleAndPlacesMax} offset 0
) r`,
	};
}

/** Reads the people and places that messages name by identifiers. Nothing is sent where no message does. */
export function storedPeopleAndPlaces(tables: ResourceTables): StoredHolding {
	// The types have the same columns.
	const columns = tables.of('Practitioner');
	const byTerm = findPeopleAndPlaces(columns);
	return {
		async read(reading) {
			const named = reading.naming(peopleAndPlaces);
			if (named.length === 0) return;
			const values = [plainArray(named.map(({ siteId }) => siteId)), textArray(named.map(({ keys }) => textArray([...keys])))];
			const counts = new Map<string, number>();
			for (const cells of await reading.run(byTerm, values)) {
				const type = cells[columns.width];
				if (!isPersonOrPlace(type)) throw new Error('a row that is no person or place was read');
				const held = reading.setOf(cells).of(peopleAndPlaces);
				held.addStored(tables.of(type).rowOf(cells));
				const count = (counts.get(siteOf(cells)) ?? 0) + 1;
				counts.set(siteOf(cells), count);
				if (count >= peopleAndPlacesMax) held.isCrowded = true;
			}
		},
	};
}
