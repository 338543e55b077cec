import type { MovedImages, RecordedEdit } from '#record/holdings/study-edits.ts';
import { type ColumnValues, plainArray, type Statement, textArray } from '../statement.ts';

const kept = `started, accession_number, accession_issuer, study_id, description, referring_physician`;

/** Begins a study for images of another one, which keep its description. */
export const beginStudyOf: Statement = {
	name: 'begin_study_of',
	text: `
insert into imaging_study (site_id, study_uid, id, patient_id, ${kept}, modalities, sop_classes, series_count, instance_count, bytes,
	created_at, updated_at, split_from)
select t.site_id, $3, $4::uuid, $5::uuid, ${kept}, '{}', '{}', 0, 0, 0, $6::timestamptz, $6::timestamptz, t.study_uid
from imaging_study t where t.site_id = $1 and t.study_uid = $2`,
};

const statedKept = `stated_patient_id, stated_patient_system, stated_patient_name, stated_patient_birth_date, stated_patient_gender, name_ideographic, name_phonetic`;

/** Takes the row of a study from the edit that emptied it. */
export const restoreStudy: Statement = {
	name: 'restore_study',
	text: `
insert into imaging_study (site_id, study_uid, id, patient_id, recorded_patient_id, ${kept}, ${statedKept}, modalities, sop_classes, series_count,
	instance_count, bytes, created_at, updated_at, split_from, version, former_patient_ids)
select t.site_id, t.study_uid, t.id, r.survivor, coalesce(t.recorded_patient_id, nullif(t.patient_id, r.survivor)), ${`${kept}, ${statedKept}`
		.split(', ')
		.map((column) => `t.${column}`)
		.join(', ')}, '{}', '{}', 0, 0, 0, t.created_at, $3::timestamptz, t.split_from, t.version, t.former_patient_ids
from study_edit e
cross join lateral jsonb_populate_record(null::imaging_study, e.study) t
cross join lateral (select tributary_survivor(t.site_id, coalesce(t.recorded_patient_id, t.patient_id)) as survivor) r
where e.site_id = $1 and e.id = $2::uuid`,
};

/** Moves images with their series, and notes the study that their data sets state. */
export const moveImages: readonly Statement[] = [
	{
		name: 'copy_series_of_images',
		text: `
insert into imaging_series (site_id, study_uid, series_uid, modality, number, description, body_part, station, started, instance_count)
select s.site_id, $3, s.series_uid, s.modality, s.number, s.description, s.body_part, s.station, s.started, 0
from imaging_series s
where s.site_id = $1 and s.study_uid = $2 and s.series_uid in (
	select i.series_uid from imaging_instance i
	where i.site_id = $1 and i.study_uid = $2 and i.sop_instance_uid = any ($4::text[]))
on conflict (site_id, study_uid, series_uid) do nothing`,
	},
	{
		name: 'move_images',
		text: `
update imaging_instance i set study_uid = $3, stated_study_uid = nullif(coalesce(i.stated_study_uid, i.study_uid), $3)
where i.site_id = $1 and i.study_uid = $2 and i.sop_instance_uid = any ($4::text[])`,
	},
];

export function movedParameters(siteId: string, { fromUid, toUid, sopInstanceUids }: MovedImages): unknown[] {
	return [siteId, fromUid, toUid, textArray(sopInstanceUids)];
}

/** Records an edit of a study, with the row of the study as it was. */
export const recordStudyEdit: Statement = {
	name: 'record_study_edit',
	text: `
insert into study_edit (site_id, id, operation, study_uid, other_study_uid, from_patient_id, to_patient_id, sop_instance_uids, edited_at,
	edited_by, study)
select $1::uuid, $2::uuid, $3, $4, $5, $6::uuid, $7::uuid, $8::text[], $9::timestamptz, $10,
	(select to_jsonb(t) from imaging_study t where t.site_id = $1::uuid and t.study_uid = $4)`,
};

export function editParameters(siteId: string, edit: RecordedEdit, at: string): unknown[] {
	const { id, operation, studyUid, toStudyUid, fromPatientId, toPatientId, sopInstanceUids, by } = edit;
	return [siteId, id, operation, studyUid, toStudyUid, fromPatientId, toPatientId, textArray(sopInstanceUids), at, by];
}

export const undoStudyEdit: Statement = {
	name: 'undo_study_edit',
	text: `
update study_edit e set undone_at = $3::timestamptz, undone_by = $4
where e.site_id = $1::uuid and e.id = $2::uuid`,
};

/** Finds images of studies: those of the named series, the named ones, or all. */
export const findImages: Statement = {
	name: 'find_images',
	text: `
select i.site_id, i.study_uid, i.sop_instance_uid
from imaging_instance i
where i.site_id = $1::uuid and i.study_uid = $2
	and (cardinality($3::text[]) + cardinality($4::text[]) = 0 or i.series_uid = any ($3::text[]) or i.sop_instance_uid = any ($4::text[]))`,
};

/** Finds edits of studies by id. */
export const findStudyEdits: Statement = {
	name: 'find_study_edits',
	text: `
select e.site_id, e.id, e.operation, e.study_uid, e.other_study_uid, e.from_patient_id, e.to_patient_id,
	to_json(e.sop_instance_uids), e.edited_by, e.undone_at, e.study ->> 'recorded_patient_id'
from unnest($1::uuid[], $2::uuid[]) as k (site_id, id)
join study_edit e on e.site_id = k.site_id and e.id = k.id`,
};

export const affected = (siteId: string, { fromUid, toUid }: MovedImages): [siteIds: ColumnValues, uids: ColumnValues] => [
	plainArray([siteId, siteId]),
	textArray([fromUid, toUid]),
];
