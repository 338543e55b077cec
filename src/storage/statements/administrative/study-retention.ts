import type { Statement } from '../../statement.ts';

/**
 * Studies whose time is over, and the holds that keep them. A hold on a patient is also one on the survivor of a merge, and on studies that were
 * the patient's before; a hold on a study is also one on what was split off or moved out of it.
 */
const isHeld = (study: string) => `exists (
	select from legal_hold h
	where h.site_id = ${study}.site_id and h.lifted_at is null and (
		h.study_uid in (${study}.study_uid, ${study}.split_from)
		or h.patient_id in (${study}.patient_id, ${study}.recorded_patient_id)
		or h.patient_id = any (${study}.former_patient_ids)
		or exists (
			select from imaging_instance i
			where h.study_uid is not null and i.site_id = ${study}.site_id and i.study_uid = ${study}.study_uid and i.stated_study_uid = h.study_uid)
		or exists (
			select from study_edit e
			where e.site_id = ${study}.site_id
				and ((e.study_uid = ${study}.study_uid and h.patient_id in (e.from_patient_id, e.to_patient_id))
					or (e.other_study_uid = ${study}.study_uid and (e.study_uid = h.study_uid or h.patient_id in (e.from_patient_id, e.to_patient_id)))))
		or ${study}.patient_id in (
			with recursive survivor (id) as (
				select p.merged_into from patient p where p.site_id = h.site_id and p.id = h.patient_id
				union
				select p.merged_into from patient p join survivor s on p.site_id = h.site_id and p.id = s.id
			)
			select id from survivor)))`;

/** An object in quarantine waits for a person, or came not long ago: it was answered with a warning, so it stays as long as a study would. */
const isSettled = (study: string) => `not exists (
	select from imaging_conflict c
	where c.site_id = ${study}.site_id and c.study_uid = ${study}.study_uid
		and (c.settled_at is null or greatest(c.received_at, c.settled_at) >= $2::timestamptz))`;

const goes = (study: string) => `${study}.updated_at < $2::timestamptz and ${isSettled(study)} and not ${isHeld(study)}`;

/** `$1` is the site, `$2` the moment before which a study changed last. */
export const countOldStudies: Statement = {
	name: 'count_old_studies',
	text: `
select count(*) filter (where ${goes('t')})::text as rows, coalesce(sum(t.bytes) filter (where ${goes('t')}), 0)::text as bytes,
	count(*) filter (where ${isHeld('t')})::text as held, min(t.updated_at) filter (where ${goes('t')}) as oldest
from imaging_study t where t.site_id = $1::uuid and t.updated_at < $2::timestamptz`,
};

export const findOldStudies: Statement = {
	name: 'find_old_studies',
	text: `
select t.study_uid from imaging_study t
where t.site_id = $1::uuid and ${goes('t')} and t.study_uid > $3
order by t.study_uid limit $4`,
};

/**
 * Deletes one study, and leaves a record of it. Whoever calls it has the turn of the site, so nobody writes to the study meanwhile. It returns
 * nothing if the study is not to go after all.
 */
export const deleteStudy: Statement = {
	name: 'delete_study',
	text: `
with doomed as (
	select t.* from imaging_study t where t.site_id = $1::uuid and t.study_uid = $3 and ${goes('t')} for update
), instances as (
	delete from imaging_instance i using doomed d where i.site_id = d.site_id and i.study_uid = d.study_uid
	returning i.series_uid, i.sop_class_uid, i.sop_instance_uid, i.object_key
), conflicts as (
	delete from imaging_conflict c using doomed d where c.site_id = d.site_id and c.study_uid = d.study_uid returning c.object_key
), series as (
	delete from imaging_series s using doomed d where s.site_id = d.site_id and s.study_uid = d.study_uid
), entries as (
	delete from search_entry e using doomed d where e.site_id = d.site_id and e.resource_type = 'ImagingStudy' and e.id = d.id
), doubts as (
	update identity_doubt x set settled_at = now(), settled_by = $6, settled_how = 'deleted' from doomed d
	where x.site_id = d.site_id and x.study_uid = d.study_uid and x.settled_at is null
), gone as (
	delete from imaging_study t using doomed d where t.site_id = d.site_id and t.study_uid = d.study_uid
)
insert into deleted_study (site_id, id, deleted_at, study_uid, version, patient_id, reason_code, reason, deleted_by, changed_at, series_count,
	instance_count, bytes, instances, object_keys)
select d.site_id, d.id, now(), d.study_uid, d.version, d.patient_id, $4, $5, $6, d.updated_at, d.series_count, d.instance_count, d.bytes,
	coalesce((select jsonb_agg(jsonb_build_array(i.series_uid, i.sop_class_uid, i.sop_instance_uid) order by i.series_uid, i.sop_instance_uid) from instances i), '[]'),
	array(select i.object_key from instances i union select c.object_key from conflicts c)
from doomed d
returning patient_id, changed_at, series_count, instance_count, bytes`,
};

/** Finds deleted studies of a site whose objects are still to be removed. */
export const unremovedObjects: Statement = {
	name: 'unremoved_objects_of_deleted_studies',
	text: `
select site_id, id, deleted_at::text as deleted_at, object_keys from deleted_study
where site_id = $1::uuid and object_keys is not null
limit $2`,
};

export const noteRemovedObjects: Statement = {
	name: 'note_removed_objects_of_deleted_study',
	text: 'update deleted_study set object_keys = null where site_id = $1::uuid and id = $2::uuid and deleted_at = $3::timestamptz',
};

/** Tells whether an ImagingStudy was deleted. */
export const isDeletedStudy: Statement = {
	name: 'is_deleted_study',
	text: 'select deleted_at from deleted_study where site_id = $1::uuid and id = $2::uuid limit 1',
};

/** Lists deleted studies, the newest first. `$1` has the sites, or is null for all; `$2` one Study Instance UID, or null. */
export const listDeletedStudies: Statement = {
	name: 'list_deleted_studies',
	text: `
select d.id, s.slug as site, d.study_uid, d.patient_id, d.reason_code, d.reason, d.deleted_at, d.deleted_by, d.changed_at, d.series_count,
	d.instance_count, d.bytes::text as bytes, d.object_keys is null as objects_removed
from deleted_study d join site s on s.id = d.site_id
where ($1::uuid[] is null or d.site_id = any ($1::uuid[])) and ($2::text is null or d.study_uid = $2)
order by d.deleted_at desc, d.id
limit $3`,
};

export const addHold: Statement = {
	name: 'add_legal_hold',
	text: `
insert into legal_hold (site_id, id, patient_id, study_uid, reason, placed_at, placed_by)
values ($1::uuid, $2::uuid, $3::uuid, $4, $5, $6::timestamptz, $7)`,
};

export const liftHold: Statement = {
	name: 'lift_legal_hold',
	text: `
update legal_hold set lifted_at = $3::timestamptz, lifted_by = $4
where site_id = $1::uuid and id = $2::uuid and lifted_at is null
returning id`,
};

const holdColumns = `h.id, s.slug as site, s.id as site_id, coalesce(p.given_id, h.patient_id::text) as patient, h.study_uid as study, h.reason, h.placed_at, h.placed_by,
	h.lifted_at, h.lifted_by, h.patient_id
from legal_hold h join site s on s.id = h.site_id
left join patient p on p.site_id = h.site_id and p.id = h.patient_id`;

export const listHolds: Statement = {
	name: 'list_legal_holds',
	text: `
select ${holdColumns}
where ($1::uuid[] is null or h.site_id = any ($1::uuid[])) and ($2 or h.lifted_at is null)
order by h.id desc`,
};

export const holdById: Statement = {
	name: 'legal_hold_by_id',
	text: `select ${holdColumns} where h.id = $1::uuid`,
};
