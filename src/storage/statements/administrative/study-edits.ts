import { otherNumberRank } from '#record/holdings/patient-identifiers.ts';
import type { Statement } from '../../statement.ts';

/** The row of a study that people edit. */
/**
 * Reads how a study came to be as it is: the zone by which its local time was read, the study from which it was split off, and, while it has no
 * patient, the person whom its images state.
 */
export const studyOrigin: Statement = {
	name: 'study_origin',
	text: `
select t.started_zone, t.assumed_zone is not null and t.assumed_zone = t.started_zone as is_assumed, t.split_from,
	case when t.patient_id is null and concat(t.stated_patient_id, t.stated_patient_name) <> '' then json_build_object(
		'id', nullif(t.stated_patient_id, ''), 'name', coalesce(t.stated_patient_name, ''),
		'birth_date', t.stated_patient_birth_date, 'gender', t.stated_patient_gender) end as stated_patient
from imaging_study t
where t.site_id = $1 and t.study_uid = $2`,
};

export const studyOfUid: Statement = {
	name: 'study_of_uid',
	text: `
select t.study_uid, t.patient_id, t.instance_count from imaging_study t
where t.site_id = $1::uuid and t.study_uid = $2
union all
select t.study_uid, t.patient_id, t.instance_count from imaging_study t
where t.site_id = $1::uuid and t.id = $3::uuid`,
};

/** Counts images of a study: those of the named series, the named ones, or all. */
export const countImages: Statement = {
	name: 'count_images_named',
	text: `
select count(*)::integer as count from imaging_instance i
where i.site_id = $1::uuid and i.study_uid = $2
	and (cardinality($3::text[]) + cardinality($4::text[]) = 0 or i.series_uid = any ($3::text[]) or i.sop_instance_uid = any ($4::text[]))`,
};

/** Counts the reports that people made about a study. */
export const reportsOfStudy: Statement = {
	name: 'reports_of_study',
	text: `
select count(*)::integer as count from diagnostic_report r
where r.site_id = $1::uuid and r.study_uid = $2 and r.origin = 'person'`,
};

/** Finds images of a study that were kept aside and name the patient: by a number of theirs, or of a patient whom they replaced. */
export const asideOfStudy: Statement = {
	name: 'aside_of_study',
	text: `
select c.id from imaging_conflict c
where c.site_id = $1::uuid and c.study_uid = $2 and c.kind = 'other-patient' and c.settled_at is null
	and exists (
		select from patient_identifier n
		where n.site_id = c.site_id and n.value = c.stated_patient_id and n.rank < ${otherNumberRank}
			and (c.stated_patient_system = '' or n.system = c.stated_patient_system
				or n.system = any (authority_systems(c.site_id, array[c.stated_patient_system])))
			and tributary_survivor(n.site_id, n.patient_id) = tributary_survivor($1::uuid, $3::uuid))
order by c.id
limit 1000`,
};

/** Lists edits of studies of a site, newest first: all, those of a study, or one. */
export const listStudyEdits: Statement = {
	name: 'list_study_edits',
	text: `
select e.id, e.operation, e.study_uid, e.other_study_uid, e.from_patient_id, e.to_patient_id,
	(e.study ->> 'recorded_patient_id')::uuid as recorded_patient_id,
	coalesce(e.sop_instance_uids, '{}') as sop_instance_uids, e.edited_at, e.edited_by, e.undone_at, e.undone_by
from study_edit e
where e.site_id = $1::uuid and ($2::text is null or e.study_uid = $2 or e.other_study_uid = $2) and ($3::uuid is null or e.id = $3)
order by e.id desc
limit 200`,
};
