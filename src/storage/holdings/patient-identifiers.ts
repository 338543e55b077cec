import { patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import { columnsOf, textAt } from '../columns.ts';
import { siteOf } from '../reading.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import { plainArray, type Statement, textArray } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';
import type { Writing } from '../writing.ts';

const entry = ['value', 'system', 'old', 'rank'] as const;

/** Finds every entry of the identifier values, whatever the authority, each with its patient. */
export function findPatients(patients: ResourceRows): Statement {
	return {
		name: 'find_patients',
		text: `
select ${patients.columns('p')}, ${columnsOf({ i: entry }).list}
from unnest($1::uuid[], $2::text[]) as k (site_id, value)
join patient_identifier i on i.site_id = k.site_id and i.value = k.value
join patient p on p.site_id = i.site_id and p.id = i.patient_id`,
	};
}

/** Finds the patients that replaced the given ones, to the end of each chain of merges. */
export function findSurvivors(patients: ResourceRows): Statement {
	return {
		name: 'find_survivors',
		text: `
with recursive survivor as (
	select p.site_id, p.id, p.merged_into
	from unnest($1::uuid[], $2::uuid[]) as k (site_id, id)
	join patient p on p.site_id = k.site_id and p.id = k.id
	union
	select p.site_id, p.id, p.merged_into
	from survivor s
	join patient p on p.site_id = s.site_id and p.id = s.merged_into
)
select ${patients.columns('p')}
from survivor s
join patient p on p.site_id = s.site_id and p.id = s.id`,
	};
}

/** Deletes the identifiers of the patients whose list changed. */
export const deleteIdentifiers: Statement = {
	name: 'delete_identifiers',
	text: `
delete from patient_identifier i
using unnest($1::uuid[], $2::uuid[]) as k (site_id, patient_id)
where i.site_id = k.site_id and i.patient_id = k.patient_id`,
};

export const insertIdentifiers: Statement = {
	name: 'insert_identifiers',
	text: `
insert into patient_identifier (site_id, value, system, patient_id, old, rank)
select k.site_id, k.value, k.system, k.patient_id, k.old, k.rank
from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::boolean[], $6::smallint[]) as k (site_id, value, system, patient_id, old, rank)`,
};

/** Reads and writes patients by the identifiers that messages state. */
export function storedPatientIdentifiers(tables: ResourceTables): StoredHolding {
	const patients = tables.of('Patient');
	const [byValue, survivors] = [findPatients(patients), findSurvivors(patients)];
	const { at } = columnsOf({ i: entry }, patients.width);
	return {
		async read(reading) {
			const rows = await reading.run(
				byValue,
				reading.named(patientIdentifiers, (values) => values),
			);
			const replaced: { siteId: string; by: string }[] = [];
			for (const cells of rows) {
				const set = reading.setOf(cells);
				const row = patients.rowOf(cells);
				set.addStored(row);
				set.of(patientIdentifiers).addStored(textAt(cells, at.value), {
					system: textAt(cells, at.system),
					patientId: row.id,
					old: cells[at.old] === 't',
					rank: Number(cells[at.rank]),
				});
				const by = row.links['merged_into'];
				if (typeof by === 'string') replaced.push({ siteId: siteOf(cells), by });
			}
			// Merges are rare, so the survivors are looked up only when a patient was replaced.
			if (replaced.length === 0) return;
			const named = [plainArray(replaced.map(({ siteId }) => siteId)), plainArray(replaced.map(({ by }) => by))];
			for (const cells of await reading.run(survivors, named)) reading.setOf(cells).addStored(patients.rowOf(cells));
		},
		write: sendIdentifiers,
	};
}

function sendIdentifiers(writing: Writing): void {
	const lists = writing.of(patientIdentifiers, ({ changed }, siteId) =>
		[...changed].map(([patientId, list]) => ({ siteId, patientId, list })),
	);
	if (lists.length === 0) return;
	writing.send(deleteIdentifiers, [plainArray(lists.map(({ siteId }) => siteId)), plainArray(lists.map(({ patientId }) => patientId))]);
	const rows = lists.flatMap(({ siteId, patientId, list }) => list.map((identifier) => ({ siteId, patientId, ...identifier })));
	writing.send(insertIdentifiers, [
		plainArray(rows.map((row) => row.siteId)),
		textArray(rows.map((row) => row.value)),
		textArray(rows.map((row) => row.system)),
		plainArray(rows.map((row) => row.patientId)),
		plainArray(rows.map((row) => row.old)),
		plainArray(rows.map((row) => row.rank)),
	]);
}
