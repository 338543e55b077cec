import { isNew } from '#record/apply/rows.ts';
import {
	type Claim,
	otherNumberRank,
	othersListedMax,
	type PatientIdentifier,
	patientIdentifiers,
} from '#record/holdings/patient-identifiers.ts';
import { columnsOf, textAt } from '../columns.ts';
import { type Reading, siteOf } from '../reading.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import { type ColumnValues, plainArray, type Statement, textArray } from '../statement.ts';
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

const stated = `stated as (
	select * from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::boolean[], $6::smallint[], $7::uuid[], $8::text[])
		as k (site_id, value, system, patient_id, old, rank, message_id, surface)
)`;

const listShared = `shared as (
	select k.site_id, k.patient_id, k.message_id, k.surface, o.patient_id as other_id
	from stated k
	cross join lateral (
		select o.patient_id
		from patient_identifier o
		join patient p on p.site_id = o.site_id and p.id = o.patient_id and p.merged_into is null
		where o.site_id = k.site_id and o.value = k.value and o.patient_id <> k.patient_id and o.rank < ${otherNumberRank}
			and (o.system = k.system or o.system = any (authority_systems(k.site_id, array[k.system])))
		limit ${othersListedMax}
	) o
	where k.rank < ${otherNumberRank} and not k.old
	union all
	select k.site_id, k.patient_id, k.message_id, k.surface, o.patient_id
	from (
		select k.*, array_agg(k.patient_id) over same as before
		from stated k
		where k.rank < ${otherNumberRank} and not k.old
		window same as (
			partition by k.site_id, k.value, k.system order by k.patient_id rows between ${othersListedMax} preceding and 1 preceding
		)
	) k
	cross join unnest(k.before) as o (patient_id)
	where o.patient_id <> k.patient_id
), pair as (
	select distinct on (s.site_id, least(s.patient_id, s.other_id), greatest(s.patient_id, s.other_id)) s.*,
		format('["number-shared","%s","%s"]', least(s.patient_id, s.other_id), greatest(s.patient_id, s.other_id)) as key
	from shared s
)
insert into identity_doubt as d (site_id, id, kind, key, patient_id, other_patient_id, text, count,
	first_message_id, first_surface, first_at, last_message_id, last_surface, last_at)
select s.site_id, (left(s.message_id::text, 14) || substr(gen_random_uuid()::text, 15))::uuid, 'number-shared',
	encode(substr(sha256(convert_to(s.key, 'UTF8')), 1, 16), 'hex')::uuid, s.other_id, s.patient_id,
	'Patient.identifier has a number that another patient has; both are stored', 1,
	s.message_id, s.surface, $9::timestamptz, s.message_id, s.surface, $9::timestamptz
from pair s
on conflict (site_id, key) do update set count = d.count + 1,
	last_message_id = excluded.last_message_id, last_surface = excluded.last_surface, last_at = excluded.last_at,
	settled_at = case when d.settled_how = 'dismissed' then d.settled_at end,
	settled_by = case when d.settled_how = 'dismissed' then d.settled_by end,
	settled_how = case when d.settled_how = 'dismissed' then d.settled_how end`;

/**
 * Inserts identifiers that clients state (`$1` to `$6`, with the message at `$7` and `$8`), and puts on the work list those that another
 * patient has. FHIR stores what a client states, so nobody looks them up before. The key is that of `recordDoubt`.
 */
export const insertClaimedIdentifiers: Statement = {
	name: 'insert_claimed_identifiers',
	text: `
with ${stated}, inserted as (
	insert into patient_identifier (site_id, value, system, patient_id, old, rank)
	select k.site_id, k.value, k.system, k.patient_id, k.old, k.rank from stated k
), ${listShared}`,
};

/** Does the same for identifiers that are copied into the table already. */
export const listCopiedIdentifiers: Statement = { name: 'list_copied_identifiers', text: `\nwith ${stated}, ${listShared}` };

/** Reads patients by the identifiers that messages state, each with those that replaced them. */
export class NumberedPatients {
	readonly #patients: ResourceRows;
	readonly #byValue: Statement;
	readonly #survivors: Statement;

	constructor(tables: ResourceTables) {
		this.#patients = tables.of('Patient');
		this.#byValue = findPatients(this.#patients);
		this.#survivors = findSurvivors(this.#patients);
	}

	async read(reading: Reading, numbers: readonly { siteId: string; value: string }[]): Promise<void> {
		if (numbers.length === 0) return;
		await this.readNamed(reading, [plainArray(numbers.map(({ siteId }) => siteId)), textArray(numbers.map(({ value }) => value))]);
	}

	/** Reads those of two arrays, of sites and values. */
	async readNamed(reading: Reading, named: readonly ColumnValues[] | undefined): Promise<void> {
		const { at } = columnsOf({ i: entry }, this.#patients.width);
		const rows = await reading.run(this.#byValue, named);
		const replaced: { siteId: string; by: string }[] = [];
		for (const cells of rows) {
			const set = reading.setOf(cells);
			const row = this.#patients.rowOf(cells);
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
		const by = [plainArray(replaced.map(({ siteId }) => siteId)), plainArray(replaced.map((one) => one.by))];
		for (const cells of await reading.run(this.#survivors, by)) reading.setOf(cells).addStored(this.#patients.rowOf(cells));
	}
}

/** Reads and writes patients by the identifiers that messages state. */
export function storedPatientIdentifiers(tables: ResourceTables): StoredHolding {
	const patients = new NumberedPatients(tables);
	return {
		read: (reading) =>
			patients.readNamed(
				reading,
				reading.named(patientIdentifiers, (values) => values),
			),
		write: sendIdentifiers,
	};
}

function sendIdentifiers(writing: Writing): void {
	const lists = writing.of(patientIdentifiers, ({ changed, claimed }, siteId) =>
		[...changed].map(([patientId, list]) => ({ siteId, patientId, list, claim: claimed.get(patientId) })),
	);
	if (lists.length === 0) return;
	const stored = lists.filter(({ siteId, patientId }) => !isNewPatient(writing, siteId, patientId));
	if (stored.length > 0) {
		writing.send(deleteIdentifiers, [plainArray(stored.map(({ siteId }) => siteId)), plainArray(stored.map(({ patientId }) => patientId))]);
	}
	const rows = lists.flatMap(({ siteId, patientId, list, claim }) =>
		list.map((identifier) => ({ siteId, patientId, claim, ...identifier })),
	);
	const found = rows.filter(({ claim }) => claim === undefined);
	if (found.length > 0 || rows.length === 0) writing.send(insertIdentifiers, columnsOfRows(found));
	const claimed = rows.flatMap(({ claim, ...row }) => (claim === undefined ? [] : [{ ...row, claim }]));
	if (claimed.length === 0) return;
	writing.send(insertClaimedIdentifiers, claimedParameters(claimed, writing.lastUpdated));
}

/** A patient of this batch has no numbers in the database yet. */
function isNewPatient({ sets }: Writing, siteId: string, patientId: string): boolean {
	const row = sets.get(siteId)?.row('Patient', patientId);
	return row !== undefined && isNew(row);
}

interface IdentifierRow extends PatientIdentifier {
	siteId: string;
	patientId: string;
}

export function claimedParameters(rows: readonly (IdentifierRow & { claim: Claim })[], lastUpdated: string): unknown[] {
	return [
		...columnsOfRows(rows),
		plainArray(rows.map(({ claim }) => claim.id)),
		textArray(rows.map(({ claim }) => claim.surface)),
		lastUpdated,
	];
}

function columnsOfRows(rows: readonly IdentifierRow[]): ColumnValues[] {
	return [
		plainArray(rows.map((row) => row.siteId)),
		textArray(rows.map((row) => row.value)),
		textArray(rows.map((row) => row.system)),
		plainArray(rows.map((row) => row.patientId)),
		plainArray(rows.map((row) => row.old)),
		plainArray(rows.map((row) => row.rank)),
	];
}
