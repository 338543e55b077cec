import { patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import { openVisits, unknownVisits, visits } from '#record/holdings/visits.ts';
import type { Cell } from '../connection.ts';
import type { Reading } from '../reading.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import { plainArray, type Statement, textArray } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

/** Finds the visits of the given keys, whatever the patient, and open visits that the named patients have under another name. */
export function findEncounters(encounters: ResourceRows): Statement {
	return {
		name: 'find_encounters',
		text: `
select ${encounters.columns('e')}
from unnest($1::uuid[], $2::uuid[]) as k (site_id, visit_key)
join encounter e on e.site_id = k.site_id and e.visit_key = k.visit_key
union all
select ${encounters.columns('e')}
from unnest($3::uuid[], $4::text[], $5::uuid[]) as k (site_id, value, visit_key)
join patient_identifier i on i.site_id = k.site_id and i.value = k.value
join encounter e on e.site_id = i.site_id and e.patient_id = i.patient_id and e.visit_key is distinct from k.visit_key
	and e.status not in ('finished', 'cancelled', 'entered-in-error')`,
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
			const named = reading.named(visits, (keys) => keys);
			const values = named && [...named, ...openVisitsNamed(reading)];
			for (const cells of await reading.run(byKey, values)) addVisit(reading, cells, encounters);
		},
		/** Reads the visits of patients of whom an event names no visit, which few do. */
		async readOfPatients(reading) {
			const named = reading.naming(openVisits).flatMap(({ siteId, set, keys }) => {
				return [...set.of(patientIdentifiers).patientsOf(keys)].map((patientId) => ({ siteId, patientId }));
			});
			if (named.length === 0) return;
			const values = [plainArray(named.map(({ siteId }) => siteId)), plainArray(named.map(({ patientId }) => patientId))];
			for (const cells of await reading.run(byPatient, values)) addVisit(reading, cells, encounters);
		},
	};
}

/** The identifier values of the patients of visits that may be known by another name, with the names that the messages have for them. */
function openVisitsNamed(reading: Reading): [string, string, string] {
	const named = reading.naming(unknownVisits).flatMap(({ siteId, keys }) => {
		return keys.flatMap(({ key, patients }) => patients.map((value) => ({ siteId, value, key })));
	});
	return [
		plainArray(named.map(({ siteId }) => siteId)),
		textArray(named.map(({ value }) => value)),
		plainArray(named.map(({ key }) => key)),
	];
}

function addVisit(reading: Reading, cells: readonly Cell[], encounters: ResourceRows): void {
	const row = encounters.rowOf(cells);
	const { visit_key: key } = row.links;
	const set = reading.setOf(cells);
	if (typeof key === 'string') set.of(visits).addStored(key, row);
	else set.addStored(row);
}
