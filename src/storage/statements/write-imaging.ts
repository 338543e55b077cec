import type { AssignedStudy, Conflict, NewInstance, StatedPatient, StatedPerson } from '#record/imaging.ts';
import { type ColumnValues, plainArray, type Statement, textArray, textLiteral } from '../statement.ts';

export interface SiteInstance {
	siteId: string;
	added: NewInstance;
	/** True when its study has rows already; the same for its series. */
	isKnownStudy: boolean;
	isKnownSeries: boolean;
}

export const insertInstances: Statement = {
	name: 'insert_instances',
	text: `
insert into imaging_instance (site_id, sop_instance_uid, study_uid, series_uid, sop_class_uid, transfer_syntax_uid, number, image_rows,
	image_columns, frames, digest, bytes, object_key, calling_ae, source, stored_at, stated_study_uid)
select k.site_id, k.sop_instance_uid, k.study_uid, k.series_uid, k.sop_class_uid, k.transfer_syntax_uid, k.number, k.image_rows,
	k.image_columns, k.frames, k.digest, k.bytes, k.object_key, k.calling_ae, k.source, k.stored_at, k.stated_study_uid
from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::integer[], $8::integer[], $9::integer[], $10::integer[],
	$11::text[], $12::bigint[], $13::text[], $14::text[], $15::text[], $16::timestamptz[], $17::text[])
	as k (site_id, sop_instance_uid, study_uid, series_uid, sop_class_uid, transfer_syntax_uid, number, image_rows, image_columns, frames,
		digest, bytes, object_key, calling_ae, source, stored_at, stated_study_uid)`,
};

export function instanceParameters(rows: readonly SiteInstance[], storedAt: string): unknown[] {
	const of = (value: (added: NewInstance['instance']) => string | null) => textArray(rows.map(({ added }) => value(added.instance)));
	const number = (value: (added: NewInstance['instance']) => number | undefined) =>
		plainArray(rows.map(({ added }) => value(added.instance) ?? null));
	return [
		plainArray(rows.map(({ siteId }) => siteId)),
		of(({ attributes }) => attributes.sopInstanceUid),
		of(({ attributes }) => attributes.studyUid),
		of(({ attributes }) => attributes.seriesUid),
		of(({ attributes }) => attributes.sopClassUid),
		of(({ attributes }) => attributes.transferSyntaxUid),
		number(({ attributes }) => attributes.number),
		number(({ attributes }) => attributes.rows),
		number(({ attributes }) => attributes.columns),
		number(({ attributes }) => attributes.frames),
		of(({ digest }) => digest),
		number(({ bytes }) => bytes),
		of(({ objectKey }) => objectKey),
		of(({ callingAe }) => callingAe),
		of(({ source }) => source),
		textArray(rows.map(() => storedAt)),
		textArray(rows.map(({ added }) => added.statedStudyUid ?? null)),
	];
}

/** Inserts one row for each series that begins. */
export const upsertSeries: Statement = {
	name: 'upsert_series',
	text: `
insert into imaging_series as t (site_id, study_uid, series_uid, modality, number, description, body_part, station, started, instance_count,
	started_offset)
select k.site_id, k.study_uid, k.series_uid, k.modality, k.number, k.description, k.body_part, k.station, k.started, k.instances,
	k.started_offset
from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::text[], $9::text[], $10::integer[],
	$11::text[])
	as k (site_id, study_uid, series_uid, modality, number, description, body_part, station, started, instances, started_offset)
on conflict (site_id, study_uid, series_uid) do update set instance_count = t.instance_count + excluded.instance_count`,
};

/** Adds instances to known series. */
export const growSeries: Statement = {
	name: 'grow_series',
	text: `
update imaging_series t set instance_count = t.instance_count + k.instances
from unnest($1::uuid[], $2::text[], $3::text[], $4::integer[]) as k (site_id, study_uid, series_uid, instances)
where t.site_id = k.site_id and t.study_uid = k.study_uid and t.series_uid = k.series_uid`,
};

/** Instances of one series, or of one study. */
export type Group = readonly [SiteInstance, ...SiteInstance[]];

/** Groups that begin with one of these instances, and groups that are known. */
export interface Groups {
	begun: Group[];
	known: Group[];
}

export function seriesOf(rows: readonly SiteInstance[]): Groups {
	const groups = grouped(rows, ({ attributes }) => `${attributes.studyUid}/${attributes.seriesUid}`);
	return parted(groups, ({ isKnownSeries }) => isKnownSeries);
}

export function studiesOf(rows: readonly SiteInstance[]): Groups {
	return parted(
		grouped(rows, ({ attributes }) => attributes.studyUid),
		({ isKnownStudy }) => isKnownStudy,
	);
}

function parted(groups: readonly Group[], isKnown: (row: SiteInstance) => boolean): Groups {
	return { begun: groups.filter(([first]) => !isKnown(first)), known: groups.filter(([first]) => isKnown(first)) };
}

export function grownSeriesParameters(groups: readonly Group[]): unknown[] {
	return [
		plainArray(groups.map(([first]) => first.siteId)),
		textArray(groups.map(([first]) => first.added.instance.attributes.studyUid)),
		textArray(groups.map(([first]) => first.added.instance.attributes.seriesUid)),
		plainArray(groups.map((group) => group.length)),
	];
}

export function seriesParameters(groups: readonly Group[]): unknown[] {
	const of = (value: (first: NewInstance['instance']) => string | null | undefined) =>
		textArray(groups.map(([first]) => value(first.added.instance) ?? null));
	return [
		plainArray(groups.map(([first]) => first.siteId)),
		of(({ attributes }) => attributes.studyUid),
		of(({ attributes }) => attributes.seriesUid),
		of(({ attributes }) => attributes.series.modality),
		plainArray(groups.map(([first]) => first.added.instance.attributes.series.number ?? null)),
		of(({ attributes }) => attributes.series.description),
		of(({ attributes }) => attributes.series.bodyPart),
		of(({ attributes }) => attributes.series.station),
		of(({ attributes }) => attributes.series.started),
		plainArray(groups.map((group) => group.length)),
		of(({ attributes }) => attributes.series.startedOffset),
	];
}

/** Inserts one row for each study that begins; the study keeps the description of its first instance. */
export const upsertStudies: Statement = {
	name: 'upsert_studies',
	text: `
insert into imaging_study as t (site_id, study_uid, id, patient_id, started, accession_number, accession_issuer, study_id, description,
	referring_physician, modalities, sop_classes, series_count, instance_count, bytes, created_at, updated_at, stated_patient_id,
	stated_patient_system, stated_patient_name, split_from, started_offset, started_zone, assumed_zone, name_ideographic, name_phonetic,
	stated_patient_birth_date, stated_patient_gender)
select k.site_id, k.study_uid, k.id, k.patient_id, k.started, k.accession_number, k.accession_issuer, k.study_id, k.description,
	k.referring_physician, k.modalities::text[], k.sop_classes::text[], k.series, k.instances, k.bytes, k.stored_at, k.stored_at,
	k.stated_patient_id, k.stated_patient_system, k.stated_patient_name, k.split_from, k.started_offset, k.started_zone,
	k.assumed_zone, nullif(k.name_ideographic, ''), nullif(k.name_phonetic, ''), k.stated_patient_birth_date::date,
	k.stated_patient_gender
from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
	$12::text[], $13::integer[], $14::integer[], $15::bigint[], $16::timestamptz[], $17::text[], $18::text[], $19::text[], $20::text[],
	$21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[])
	as k (site_id, study_uid, id, patient_id, started, accession_number, accession_issuer, study_id, description, referring_physician,
		modalities, sop_classes, series, instances, bytes, stored_at, stated_patient_id, stated_patient_system, stated_patient_name, split_from,
		started_offset, started_zone, assumed_zone, name_ideographic, name_phonetic, stated_patient_birth_date, stated_patient_gender)
on conflict (site_id, study_uid) do update set
	version = t.version + 1,
	modalities = array(select distinct m from unnest(t.modalities || excluded.modalities) as m order by m),
	sop_classes = case when t.sop_classes @> excluded.sop_classes then t.sop_classes
		else array(select distinct c from unnest(t.sop_classes || excluded.sop_classes) as c order by c) end,
	series_count = t.series_count + excluded.series_count,
	instance_count = t.instance_count + excluded.instance_count,
	bytes = t.bytes + excluded.bytes,
	updated_at = excluded.updated_at`,
};

/**
 * Adds instances to known studies. An upsert would derive the columns of a row that it does not insert, and rebuild the lists of modalities
 * and
 * classes, which takes most of its time.
 */
export const growStudies: Statement = {
	name: 'grow_studies',
	text: `
update imaging_study t set
	version = t.version + 1,
	modalities = case when t.modalities @> k.modalities::text[] then t.modalities
		else array(select distinct m from unnest(t.modalities || k.modalities::text[]) as m order by m) end,
	sop_classes = case when t.sop_classes @> k.sop_classes::text[] then t.sop_classes
		else array(select distinct c from unnest(t.sop_classes || k.sop_classes::text[]) as c order by c) end,
	series_count = t.series_count + k.series,
	instance_count = t.instance_count + k.instances,
	bytes = t.bytes + k.bytes,
	updated_at = $8::timestamptz
from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[], $7::bigint[])
	as k (site_id, study_uid, modalities, sop_classes, series, instances, bytes)
where t.site_id = k.site_id and t.study_uid = k.study_uid`,
};

/** The parameter that says how many instances are added. */
export const grownInstances = 5;

export function grownStudyParameters(groups: readonly Group[], storedAt: string): unknown[] {
	return [
		plainArray(groups.map(([first]) => first.siteId)),
		textArray(groups.map(([first]) => first.added.instance.attributes.studyUid)),
		...addedTo(groups),
		storedAt,
	];
}

/** Returns the modalities and classes, and the number of series, instances and bytes added to each study. */
function addedTo(groups: readonly Group[]): ColumnValues[] {
	const different = (group: Group, value: (attributes: NewInstance['instance']['attributes']) => string | undefined) => {
		const named = group.map(({ added }) => value(added.instance.attributes)).filter((text) => text !== undefined);
		return textLiteral([...new Set(named)].sort());
	};
	return [
		textArray(groups.map((group) => different(group, ({ series }) => series.modality))),
		textArray(groups.map((group) => different(group, ({ sopClassUid }) => sopClassUid))),
		plainArray(groups.map((group) => group.filter(({ added }) => added.isNewSeries).length)),
		plainArray(groups.map((group) => group.length)),
		plainArray(groups.map((group) => group.reduce((sum, { added }) => sum + added.instance.bytes, 0))),
	];
}

export function studyParameters(groups: readonly Group[], storedAt: string): unknown[] {
	const of = (value: (first: NewInstance['instance']) => string | null | undefined) =>
		textArray(groups.map(([first]) => value(first.added.instance) ?? null));
	return [
		plainArray(groups.map(([first]) => first.siteId)),
		of(({ attributes }) => attributes.studyUid),
		plainArray(groups.map(([first]) => first.added.studyId)),
		plainArray(groups.map(([first]) => first.added.patientId)),
		of(({ attributes }) => attributes.study.started),
		of(({ attributes }) => attributes.study.accessionNumber),
		of(({ attributes }) => attributes.study.accessionIssuer),
		of(({ attributes }) => attributes.study.studyId),
		of(({ attributes }) => attributes.study.description),
		of(({ attributes }) => attributes.study.referringPhysician),
		...addedTo(groups),
		textArray(groups.map(() => storedAt)),
		...statedColumns(groups.map(([first]) => first.added.stated)),
		textArray(groups.map(([first]) => first.added.statedStudyUid ?? null)),
		of(({ attributes }) => attributes.study.startedOffset),
		...readingColumns(groups.map(([first]) => first.added)),
		...personColumns(groups.map(([first]) => first.added.stated)),
	];
}

/** The zone by which a study was read, whether it was assumed, and the names that its images state. */
export function readingColumns(added: readonly NewInstance[]): ColumnValues[] {
	const of = (value: (one: NewInstance) => string | undefined) => textArray(added.map((one) => value(one) ?? null));
	return [
		of(({ instance }) => instance.attributes.study.startedZone),
		of(({ instance }) => instance.attributes.study.assumedZone),
		of(({ nameGroups }) => nameGroups?.ideographic),
		of(({ nameGroups }) => nameGroups?.phonetic),
	];
}

/** The three columns of a patient as images state them. */
export function statedColumns(stated: readonly (StatedPatient | StatedPerson | undefined)[]): ColumnValues[] {
	return [
		textArray(stated.map((patient) => patient?.id ?? null)),
		textArray(stated.map((patient) => patient?.system ?? null)),
		textArray(stated.map((patient) => patient?.name ?? null)),
	];
}

/** The further two that a study has of them. */
function personColumns(stated: readonly (StatedPatient | StatedPerson | undefined)[]): ColumnValues[] {
	return [textArray(stated.map((person) => person?.birthDate ?? null)), textArray(stated.map((person) => person?.gender ?? null))];
}

function grouped(rows: readonly SiteInstance[], keyOf: (instance: NewInstance['instance']) => string): Group[] {
	const groups = new Map<string, [SiteInstance, ...SiteInstance[]]>();
	for (const row of rows) {
		const key = `${row.siteId}/${keyOf(row.added.instance)}`;
		const group = groups.get(key);
		if (group) group.push(row);
		else groups.set(key, [row]);
	}
	return [...groups.values()];
}

export const insertConflicts: Statement = {
	name: 'insert_conflicts',
	text: `
insert into imaging_conflict (site_id, id, sop_instance_uid, study_uid, digest, bytes, object_key, calling_ae, source, received_at,
	settled_at, settlement, settled_by, kind, stated_patient_id, stated_patient_system, stated_patient_name)
select k.site_id, k.id, k.sop_instance_uid, k.study_uid, k.digest, k.bytes, k.object_key, k.calling_ae, k.source, k.received_at,
	k.settled_at, k.settlement, k.settled_by, k.kind, k.stated_patient_id, k.stated_patient_system, k.stated_patient_name
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::timestamptz[],
	$11::timestamptz[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[])
	as k (site_id, id, sop_instance_uid, study_uid, digest, bytes, object_key, calling_ae, source, received_at, settled_at, settlement,
		settled_by, kind, stated_patient_id, stated_patient_system, stated_patient_name)`,
};

/** `now` is the instant of conflicts that this batch received and of all that it settled. */
export function conflictParameters(rows: readonly { siteId: string; conflict: Conflict }[], now: string): unknown[] {
	const of = (value: (conflict: Conflict) => string | null) => textArray(rows.map(({ conflict }) => value(conflict)));
	return [
		plainArray(rows.map(({ siteId }) => siteId)),
		plainArray(rows.map(({ conflict }) => conflict.id)),
		of(({ sopInstanceUid }) => sopInstanceUid),
		of(({ studyUid }) => studyUid),
		of(({ digest }) => digest),
		plainArray(rows.map(({ conflict }) => conflict.bytes)),
		of(({ objectKey }) => objectKey),
		of(({ callingAe }) => callingAe),
		of(({ source }) => source),
		of(({ receivedAt }) => receivedAt ?? now),
		of(({ settlement }) => (settlement ? now : null)),
		of(({ settlement }) => settlement?.as ?? null),
		of(({ settlement }) => settlement?.by ?? null),
		of(({ otherPatient }) => (otherPatient ? 'other-patient' : null)),
		...statedColumns(rows.map(({ conflict }) => conflict.otherPatient)),
	];
}

/** Decides whose studies are. A merge that is undone later leaves them with the patient who was chosen. */
export const assignStudies: Statement = {
	name: 'assign_studies',
	text: `
update imaging_study t set
	recorded_patient_id = coalesce(k.recorded_patient_id,
		case when t.patient_id is not distinct from k.patient_id then t.recorded_patient_id end),
	patient_id = k.patient_id, stated_patient_id = k.stated_patient_id, stated_patient_system = k.stated_patient_system,
	stated_patient_name = k.stated_patient_name, stated_patient_birth_date = k.stated_patient_birth_date::date,
	stated_patient_gender = k.stated_patient_gender, former_patient_ids = nullif(k.former_patient_ids::uuid[], '{}'),
	version = t.version + 1, updated_at = $11::timestamptz
from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::uuid[])
	as k (site_id, study_uid, patient_id, stated_patient_id, stated_patient_system, stated_patient_name, stated_patient_birth_date,
		stated_patient_gender, former_patient_ids, recorded_patient_id)
where t.site_id = k.site_id and t.study_uid = k.study_uid`,
};

export function assignedParameters(rows: readonly { siteId: string; assigned: AssignedStudy }[], now: string): unknown[] {
	return [
		plainArray(rows.map(({ siteId }) => siteId)),
		textArray(rows.map(({ assigned }) => assigned.studyUid)),
		plainArray(rows.map(({ assigned }) => assigned.patientId)),
		...statedColumns(rows.map(({ assigned }) => assigned.stated)),
		...personColumns(rows.map(({ assigned }) => assigned.stated)),
		textArray(rows.map(({ assigned }) => `{${assigned.formerPatientIds.join(',')}}`)),
		plainArray(rows.map(({ assigned }) => assigned.recordedPatientId)),
		now,
	];
}
