import { visits } from '#record/holdings/visits.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import type { Statement } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

/** Finds the visits of the given keys, whatever the patient. */
export function findEncounters(encounters: ResourceRows): Statement {
	return {
		name: 'find_encounters',
		text: `
select ${encounters.columns('e')}
from unnest($1::uuid[], $2::uuid[]) as k (site_id, visit_key)
join encounter e on e.site_id = k.site_id and e.visit_key = k.visit_key`,
	};
}

export function storedVisits(tables: ResourceTables): StoredHolding {
	const encounters = tables.of('Encounter');
	const byKey = findEncounters(encounters);
	return {
		async read(reading) {
			for (const cells of await reading.run(
				byKey,
				reading.named(visits, (keys) => keys),
			)) {
				const row = encounters.rowOf(cells);
				reading.setOf(cells).of(visits).addStored(String(row.links['visit_key']), row);
			}
		},
	};
}
