import { diagnosticReports } from '#record/holdings/diagnostic-reports.ts';
import { disputed, type ImagingKeys, imaging, studiesOfDisputed } from '#record/holdings/imaging.ts';
import { otherNumberRank, patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import { procedureSteps } from '#record/holdings/procedure-steps.ts';
import type { HeldInstance, HeldStudy, InstancePolicy, StatedPatient, StatedPerson } from '#record/imaging.ts';
import { indexText } from '#record/index-text.ts';
import type { Cell } from '../cell.ts';
import { cellAt, columnsOf, textAt } from '../columns.ts';
import type { ForeseenStatements } from '../foresight.ts';
import { type Reading, siteOf } from '../reading.ts';
import type { ResourceTables } from '../resource-rows.ts';
import { plainArray, type Statement, textArray } from '../statement.ts';
import { foreseenTurns } from '../statements/take-turns.ts';
import { grownInstances, growStudies, upsertSeries, upsertStudies } from '../statements/write-imaging.ts';
import type { StoredHolding } from '../stored-holding.ts';
import { findReportsOfStudies } from './diagnostic-reports.ts';
import { sendImaging } from './imaging-writes.ts';
import { NumberedPatients } from './patient-identifiers.ts';

const instance = columnsOf({
	i: ['site_id', 'sop_instance_uid', 'digest', 'object_key', 'study_uid', 'stated_study_uid', 'bytes', 'calling_ae', 'source', 'stored_at'],
});

/** Finds instances by UID. */
export const findInstances: Statement = {
	name: 'find_instances',
	text: `
select ${instance.list}
from unnest($1::uuid[], $2::text[]) as k (site_id, sop_instance_uid)
join imaging_instance i on i.site_id = k.site_id and i.sop_instance_uid = k.sop_instance_uid`,
};

function instanceOf(cells: readonly Cell[]): HeldInstance {
	const { at } = instance;
	return {
		sopInstanceUid: textAt(cells, at.sop_instance_uid),
		studyUid: textAt(cells, at.study_uid),
		statedStudyUid: cellAt(cells, at.stated_study_uid) ?? undefined,
		digest: textAt(cells, at.digest),
		bytes: Number(cells[at.bytes]),
		objectKey: textAt(cells, at.object_key),
		callingAe: cellAt(cells, at.calling_ae) ?? '',
		source: cellAt(cells, at.source) ?? '',
		storedAt: textAt(cells, at.stored_at),
	};
}

const study = columnsOf({
	t: [
		'site_id',
		'study_uid',
		'id',
		'patient_id',
		'accession_number',
		'started',
		'instance_count',
		'stated_patient_id',
		'stated_patient_system',
		'stated_patient_name',
		'stated_patient_birth_date',
		'stated_patient_gender',
		'former_patient_ids',
	],
});
const series = columnsOf({ s: ['series_uid'], f: ['former_survivor_ids'] }, study.width);

/** Finds studies by UID, each with its series. */
export const findStudies: Statement = {
	name: 'find_studies',
	text: `
select ${study.list}, ${series.list}
from unnest($1::uuid[], $2::text[]) as k (site_id, study_uid)
join imaging_study t on t.site_id = k.site_id and t.study_uid = k.study_uid
left join imaging_series s on s.site_id = t.site_id and s.study_uid = t.study_uid
cross join lateral (
	select array_agg(tributary_survivor(t.site_id, former.id)) as former_survivor_ids from unnest(t.former_patient_ids) as former (id)
) f`,
};

/** An instance that is added counts in its study, and may begin it or a series. */
export const foreseenImaging: ForeseenStatements = {
	empty: [findInstances],
	counted: [foreseenTurns],
	growing: [{ write: growStudies, value: grownInstances, read: findStudies, column: study.at.instance_count }],
	changing: [upsertSeries, upsertStudies].map((write) => ({ write, read: findStudies })),
};

/** Finds studies by accession number. */
export const findStudiesByAccession: Statement = {
	name: 'find_studies_by_accession',
	text: `
select ${study.list}
from unnest($1::uuid[], $2::text[]) as k (site_id, accession_number)
join imaging_study t on t.site_id = k.site_id and t.accession_number = k.accession_number`,
};

function studyOf(cells: readonly Cell[]): HeldStudy {
	const { at } = study;
	return {
		studyUid: textAt(cells, at.study_uid),
		id: textAt(cells, at.id),
		patientId: cellAt(cells, at.patient_id),
		accessionNumber: cellAt(cells, at.accession_number),
		started: cellAt(cells, at.started),
		stated: statedIn(cells),
		formerPatientIds: idsIn(cellAt(cells, at.former_patient_ids)),
		instanceCount: Number(cells[at.instance_count]),
		isStored: true,
	};
}

function statedIn(cells: readonly Cell[]): StatedPatient | StatedPerson | undefined {
	const { at } = study;
	const [id, name] = [cellAt(cells, at.stated_patient_id), cellAt(cells, at.stated_patient_name)];
	if (id === null && name === null) return undefined;
	const [birthDate, gender] = [cellAt(cells, at.stated_patient_birth_date), cellAt(cells, at.stated_patient_gender)];
	const facts = { name: name ?? '', birthDate: birthDate ?? undefined, gender: gender ?? undefined };
	return id === null ? facts : { id, system: cellAt(cells, at.stated_patient_system) ?? '', ...facts };
}

/** An array of UUIDs as PostgreSQL writes it. */
function idsIn(text: string | null): string[] {
	return text === null || text === '{}' ? [] : text.slice(1, -1).split(',');
}

const unmatched = columnsOf({ c: ['patient_ids'] }, study.width);

/**
 * Finds studies without a patient whose images state a number of one of the patients, each with all patients who have that number. A number
 * whose issuer is not stated is that of every patient with the value.
 */
export const findUnmatchedStudies: Statement = {
	name: 'find_unmatched_studies',
	text: `
select ${study.list}, ${unmatched.list}
from (
	select distinct t.site_id, t.study_uid
	from unnest($1::uuid[], $2::uuid[]) as k (site_id, patient_id)
	join patient_identifier n on n.site_id = k.site_id and n.patient_id = k.patient_id
	join imaging_study t on t.site_id = n.site_id and t.stated_patient_id = n.value and t.patient_id is null
) u
join imaging_study t on t.site_id = u.site_id and t.study_uid = u.study_uid
cross join lateral (
	select array_agg(distinct p.id) as patient_ids
	from patient_identifier n
	join patient p on p.site_id = n.site_id and p.id = n.patient_id
	where n.site_id = t.site_id and n.value = t.stated_patient_id and n.rank < ${otherNumberRank} and p.merged_into is null
		and (t.stated_patient_system = '' or n.system = t.stated_patient_system
			or n.system = any (authority_systems(t.site_id, array[t.stated_patient_system])))
) c
where c.patient_ids is not null`,
};

const named = columnsOf({ s: ['patient_id'] }, study.width);

/** Finds studies without a patient that procedure steps are about, each with the Patient ID that the step has. */
export const findStudiesOfSteps: Statement = {
	name: 'find_studies_of_steps',
	text: `
select ${study.list}, ${named.list}
from unnest($1::uuid[], $2::text[]) as k (site_id, sop_instance_uid)
join mpps_session s on s.site_id = k.site_id and s.sop_instance_uid = k.sop_instance_uid
join imaging_study t on t.site_id = s.site_id and t.study_uid = any (s.study_uid || coalesce(s.other_study_uids, '{}')) and t.patient_id is null
union all
select ${study.list}, ${named.list}
from unnest($1::uuid[], $2::text[]) as k (site_id, sop_instance_uid)
join mpps_session s on s.site_id = k.site_id and s.sop_instance_uid = k.sop_instance_uid
join imaging_study t on t.site_id = s.site_id and t.accession_number = s.accession_number and t.patient_id is null`,
};

const kept = columnsOf({ c: ['site_id', 'sop_instance_uid', 'digest', 'id', 'object_key', 'settled_at'] });

/** Finds objects that are kept aside, by UID and digest, whether or not their conflict is settled. */
export const findKeptObjects: Statement = {
	name: 'find_kept_objects',
	text: `
select ${kept.list}
from unnest($1::uuid[], $2::text[], $3::text[]) as k (site_id, sop_instance_uid, digest)
join imaging_conflict c on c.site_id = k.site_id and c.sop_instance_uid = k.sop_instance_uid and c.digest = k.digest`,
};

const conflict = columnsOf({
	c: [
		...(['site_id', 'id', 'sop_instance_uid', 'object_key', 'settled_at', 'kind'] as const),
		...(['study_uid', 'stated_patient_id', 'stated_patient_system'] as const),
	],
});

export const findConflicts: Statement = {
	name: 'find_conflicts',
	text: `
select ${conflict.list}
from unnest($1::uuid[], $2::uuid[]) as k (site_id, id)
join imaging_conflict c on c.site_id = k.site_id and c.id = k.id`,
};

const policy = columnsOf({ s: ['id', 'instance_policy'] });

/** Finds the sites' policies for other content under a known UID. */
export const findInstancePolicies: Statement = {
	name: 'find_instance_policies',
	text: `
select ${policy.list}
from unnest($1::uuid[]) as k (site_id)
join site s on s.id = k.site_id`,
};

/** Reads and writes the index of images and, when contents differ, the data that decides about them. */
export function storedImaging(tables: ResourceTables): StoredHolding {
	const reports = tables.of('DiagnosticReport');
	const ofStudies = findReportsOfStudies(reports);
	const patients = new NumberedPatients(tables);
	return {
		async read(reading) {
			const named = (of: (keys: ImagingKeys) => Iterable<string>) => reading.named(imaging, of);
			const [instances, studies, numbered, conflicts] = await Promise.all([
				reading.run(
					findInstances,
					named(({ instances: uids }) => uids.keys()),
				),
				reading.run(
					findStudies,
					named(({ studyUids }) => studyUids),
				),
				reading.run(
					findStudiesByAccession,
					named(({ accessionNumbers }) => accessionNumbers),
				),
				reading.run(
					findConflicts,
					named(({ conflictIds }) => conflictIds),
				),
			]);
			for (const cells of instances) reading.setOf(cells).of(imaging).addStoredInstance(instanceOf(cells));
			for (const cells of studies) addSeries(reading, cells);
			for (const cells of numbered) reading.setOf(cells).of(imaging).addStoredStudy(studyOf(cells));
			for (const cells of conflicts) addConflict(reading, cells);
			await readDisputed(reading);
		},
		/** Reads studies whose patient a merge or a procedure step may settle, and the reports that name them. Only these send queries. */
		async readOfPatients(reading) {
			const found = [...(await readOfMerges(reading)), ...(await readOfSteps(reading, patients))];
			if (found.length === 0) return;
			const rows = await reading.run(ofStudies, [
				plainArray(found.map((cells) => textAt(cells, study.at.site_id))),
				textArray(found.map((cells) => textAt(cells, study.at.study_uid))),
				textArray(found.map((cells) => indexTextOrNull(cellAt(cells, study.at.accession_number)))),
			]);
			for (const cells of rows) reading.setOf(cells).of(diagnosticReports).addStored(reports.rowOf(cells));
		},
		write: sendImaging,
	};
}

async function readOfMerges(reading: Reading): Promise<readonly Cell[][]> {
	const merging = reading.naming(imaging).filter(({ keys }) => keys.mayMatch);
	const merged = merging.flatMap(({ siteId, set }) => set.rows('Patient').map(({ id }) => ({ siteId, id })));
	if (merged.length === 0) return [];
	const values = [plainArray(merged.map(({ siteId }) => siteId)), plainArray(merged.map(({ id }) => id))];
	const found = await reading.run(findUnmatchedStudies, values);
	for (const cells of found) {
		const candidates = idsIn(cellAt(cells, unmatched.at.patient_ids));
		reading
			.setOf(cells)
			.of(imaging)
			.addUnmatched({ study: studyOf(cells), candidates });
	}
	return found;
}

/** A later report about a step seldom repeats who the patient is and which studies it is about. */
async function readOfSteps(reading: Reading, patients: NumberedPatients): Promise<readonly Cell[][]> {
	const stored = reading.naming(imaging).flatMap(({ siteId, set, keys: { steps } }) => {
		return [...steps].filter((uid) => set.of(procedureSteps).step(uid) !== undefined).map((uid) => ({ siteId, uid }));
	});
	if (stored.length === 0) return [];
	const values = [plainArray(stored.map(({ siteId }) => siteId)), textArray(stored.map(({ uid }) => uid))];
	const found = await reading.run(findStudiesOfSteps, values);
	for (const cells of found) reading.setOf(cells).of(imaging).addStoredStudy(studyOf(cells));
	const numbers = found.flatMap((cells) => {
		const value = cellAt(cells, named.at.patient_id);
		const isRead = value === null || reading.setOf(cells).of(patientIdentifiers).entries(value).length > 0;
		return isRead ? [] : [{ siteId: siteOf(cells), value }];
	});
	await patients.read(reading, numbers);
	return found;
}

const indexTextOrNull = (text: string | null) => (text === null ? null : indexText(text));

function addSeries(reading: Reading, cells: readonly Cell[]): void {
	const { at } = series;
	const held = studyOf(cells);
	const survivors = cellAt(cells, at.former_survivor_ids);
	if (survivors !== null) held.formerSurvivorIds = idsIn(survivors);
	reading.setOf(cells).of(imaging).addStoredSeries(held, cellAt(cells, at.series_uid));
}

function addConflict(reading: Reading, cells: readonly Cell[]): void {
	const { at } = conflict;
	const statedId = cellAt(cells, at.stated_patient_id);
	const system = cellAt(cells, at.stated_patient_system) ?? '';
	reading
		.setOf(cells)
		.of(imaging)
		.addStoredConflict(textAt(cells, at.id), {
			sopInstanceUid: textAt(cells, at.sop_instance_uid),
			objectKey: textAt(cells, at.object_key),
			isSettled: cells[at.settled_at] !== null,
			isForeign: cells[at.kind] === 'other-patient',
			...(statedId !== null && { aside: { studyUid: textAt(cells, at.study_uid), id: statedId, system } }),
		});
}

/** Other content under a known UID is rare, so the data for it is not read for every instance. */
async function readDisputed(reading: Reading): Promise<void> {
	const naming = reading.naming(imaging);
	const contents = naming.flatMap(({ siteId, set, keys }) => [
		...disputed(keys, set.of(imaging)).flatMap(([uid, digests]) => [...digests].map((digest) => ({ siteId, uid, digest }))),
		...keys.foreign.map(([uid, digest]) => ({ siteId, uid, digest })),
	]);
	if (contents.length === 0) return;
	const siteIds = contents.map(({ siteId }) => siteId);
	const named = [plainArray(siteIds), textArray(contents.map(({ uid }) => uid)), textArray(contents.map(({ digest }) => digest))];
	const left = naming.flatMap(({ siteId, set, keys }) => studiesOfDisputed(keys, set.of(imaging)).map((uid) => ({ siteId, uid })));
	const [objects, policies, studies] = await Promise.all([
		reading.run(findKeptObjects, named),
		reading.run(findInstancePolicies, [plainArray([...new Set(siteIds)])]),
		reading.run(findStudies, [plainArray(left.map(({ siteId }) => siteId)), textArray(left.map(({ uid }) => uid))]),
	]);
	for (const cells of objects) {
		const { at } = kept;
		const held = reading.setOf(cells).of(imaging);
		const [id, objectKey, isSettled] = [textAt(cells, at.id), textAt(cells, at.object_key), cells[at.settled_at] !== null];
		held.addStoredKept(textAt(cells, at.sop_instance_uid), textAt(cells, at.digest), { id, objectKey, isSettled });
	}
	for (const cells of policies) reading.setOf(cells).of(imaging).policy = textAt(cells, policy.at.instance_policy) as InstancePolicy;
	for (const cells of studies) addSeries(reading, cells);
}
