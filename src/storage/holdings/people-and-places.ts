import { furtherMax, type PeopleAndPlacesKeys, peopleAndPlaces } from '#record/holdings/people-and-places.ts';
import { isIdentified, isPersonOrPlace, personOrPlaceTypes } from '#record/person-or-place.ts';
import { type Naming, siteOf } from '../reading.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import { type ColumnValues, plainArray, type Statement, textArray, textLiteral } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

/**
 * Finds the practitioners, organizations and locations of `$1` and `$2`, with one look-up for each site, and the orders of `$3` to `$5` among
 * those of the patients who have the number.
 */
export function findPeopleAndPlaces(rows: ResourceRows): Statement {
	const { keptIn } = rows.shape;
	return {
		name: 'find_people_and_places',
		text: `
select ${rows.columns('r')}, r.resource_type
from unnest($1::uuid[], $2::text[]) as k (site_id, terms)
cross join lateral (
	select * from ${keptIn} o where o.site_id = k.site_id and o.terms && k.terms::bigint[] and not o.deleted
		and o.resource_type in (${personOrPlaceTypes.map((type) => `'${type}'`).join(', ')})
	limit 2 * cardinality(k.terms::bigint[]) + ${furtherMax} offset 0
) r
union all
select ${rows.columns('r')}, r.resource_type
from (select u.*, 'ServiceRequest'::text as resource_type from unnest($3::uuid[], $4::text[], $5::bigint[]) as u (site_id, value, term) offset 0) k
join patient_identifier i on i.site_id = k.site_id and i.value = k.value
join ${keptIn} r on r.site_id = i.site_id and r.patient_id = i.patient_id and r.resource_type = k.resource_type and not r.deleted
	and r.terms @> array[k.term]`,
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
			const counts = new Map<string, number>();
			for (const cells of await reading.run(byTerm, [...peopleOf(naming), ...ordersOf(naming)])) {
				const type = cells[rows.width];
				if (!isIdentified(type)) throw new Error('a row of another type was read');
				reading
					.setOf(cells)
					.of(peopleAndPlaces)
					.addStored({ ...rows.rowOf(cells), resourceType: type });
				if (isPersonOrPlace(type)) counts.set(siteOf(cells), (counts.get(siteOf(cells)) ?? 0) + 1);
			}
			for (const { siteId, set, keys } of naming) {
				if ((counts.get(siteId) ?? 0) >= 2 * keys.named.size + furtherMax) set.of(peopleAndPlaces).isCrowded = true;
			}
		},
	};
}

type Named = readonly Naming<PeopleAndPlacesKeys>[];

/** The sites, and the terms of each. */
function peopleOf(naming: Named): ColumnValues[] {
	const sites = naming.filter(({ keys }) => keys.named.size > 0);
	return [plainArray(sites.map(({ siteId }) => siteId)), textArray(sites.map(({ keys }) => textLiteral([...keys.named])))];
}

/** The site, patient and term of each order. */
function ordersOf(naming: Named): ColumnValues[] {
	const orders = naming.flatMap(({ siteId, keys }) => keys.orders.map((order) => ({ siteId, ...order })));
	return [
		plainArray(orders.map(({ siteId }) => siteId)),
		textArray(orders.map(({ patient }) => patient)),
		textArray(orders.map(({ term }) => term)),
	];
}
