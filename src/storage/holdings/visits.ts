import { patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import { openVisits, type UnknownVisit, unknownVisits, visits } from '#record/holdings/visits.ts';
import type { Cell } from '../cell.ts';
import type { Reading } from '../reading.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import { type ColumnValues, plainArray, type Statement, textArray } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

const isOpen = "e.status not in ('finished', 'cancelled', 'entered-in-error')";

/** Open visits that the named patients have under another name. */
function openVisitsOf(encounters: ResourceRows, first: number): string {
	return `
select ${encounters.columns('e')}
from unnest($${first}::uuid[], $${first + 1}::text[], $${first + 2}::uuid[]) as k (site_id, value, visit_key)
join patient_identifier i on i.site_id = k.site_id and i.value = k.value
join encounter e on e.site_id = i.site_id and e.patient_id = i.patient_id and e.visit_key is distinct from k.visit_key and ${isOpen}`;
}

/**
 * Finds the visits of the given keys, whatever the patient, and open visits without a number that the named patients have. Those with a number
 * are not read, however many of them a sender never closes.
 */
export function findEncounters(encounters: ResourceRows): Statement {
	return {
		name: 'find_encounters',
		text: `
select ${encounters.columns('e')}
from unnest($1::uuid[], $2::uuid[]) as k (site_id, visit_key)
join encounter e on e.site_id = k.site_id and e.visit_key = k.visit_key
union all${openVisitsOf(encounters, 3)}
	and e.given_id is null and e.is_numbered is not true`,
	};
}

/** Finds open visits that the named patients have under any other name, for the few messages that state nothing but the time of admission. */
export function findOpenEncounters(encounters: ResourceRows): Statement {
	return { name: 'find_open_encounters', text: openVisitsOf(encounters, 1) };
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
	const open = findOpenEncounters(encounters);
	const byPatient = findEncountersOfPatients(encounters);
	return {
		async read(reading) {
			const named = reading.named(visits, (keys) => keys);
			const { number, time } = unknownVisitsNamed(reading);
			const found = await Promise.all([
				reading.run(byKey, named && [...named, ...columnsOf(number)]),
				reading.run(open, time.length === 0 ? undefined : columnsOf(time)),
			]);
			for (const cells of found.flat()) addVisit(reading, cells, encounters);
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

interface NamedVisit {
	siteId: string;
	value: string;
	key: string;
}

/** The identifier values of the patients of visits that may be known by another name, with the names that the messages have for them. */
function unknownVisitsNamed(reading: Reading): Record<UnknownVisit['namedBy'], NamedVisit[]> {
	const named: Record<UnknownVisit['namedBy'], NamedVisit[]> = { number: [], time: [] };
	for (const { siteId, keys } of reading.naming(unknownVisits)) {
		for (const { key, namedBy, patients } of keys) for (const value of patients) named[namedBy].push({ siteId, value, key });
	}
	return named;
}

function columnsOf(named: readonly NamedVisit[]): ColumnValues[] {
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
