import { patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import { openVisits, visits } from '#record/holdings/visits.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import { plainArray, type Statement } from '../statement.ts';
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

/** Finds the visits of the given patients. */
export function findEncountersOfPatients(encounters: ResourceRows): Statement {
	return {
		name: 'find_encounters_of_patients',
		text: `
select ${encounters.columns('e')}
from unnest($1::uuid[], $2::uuid[]) as k (site_id, patient_id)
join encounter e on e.site_id = k.site_id and e.patient_id = k.patient_id`,
	};
}

export function storedVisits(tables: ResourceTables): StoredHolding {
	const encounters = tables.of('Encounter');
	const byKey = findEncounters(encounters);
	const byPatient = findEncountersOfPatients(encounters);
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
		/** Reads the visits of patients of whom an event names no visit, which few do. */
		async readOfPatients(reading) {
			const named = reading.naming(openVisits).flatMap(({ siteId, set, keys }) => {
				return [...set.of(patientIdentifiers).patientsOf(keys)].map((patientId) => ({ siteId, patientId }));
			});
			if (named.length === 0) return;
			const values = [plainArray(named.map(({ siteId }) => siteId)), plainArray(named.map(({ patientId }) => patientId))];
			for (const cells of await reading.run(byPatient, values)) {
				const row = encounters.rowOf(cells);
				const { visit_key: key } = row.links;
				const set = reading.setOf(cells);
				if (set.row('Encounter', row.id) !== undefined) continue;
				if (typeof key === 'string') set.of(visits).addStored(key, row);
				else set.addStored(row);
			}
		},
	};
}
