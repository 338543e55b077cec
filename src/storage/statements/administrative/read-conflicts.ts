import type { Statement } from '../../statement.ts';
import { siteSettings } from './settings.ts';

const columns = `
	c.id, s.slug as site, c.sop_instance_uid, c.study_uid, c.bytes::float8 as bytes, c.calling_ae, c.source, c.received_at,
	c.settled_at, c.settlement, c.settled_by, coalesce(c.kind, 'other-content') as kind, c.stated_patient_id, c.stated_patient_name, coalesce(array_to_string(y.modalities, ', '), '') as modality,
	coalesce(y.description, '') as study_description, y.patient_id as study_patient`;

const ofStudy = 'left join imaging_study y on y.site_id = c.site_id and y.study_uid = c.study_uid';

/** Lists conflicts of a site or of all, newest first: only the open ones, or also the settled ones. */
export const listConflicts: Statement = {
	name: 'list_conflicts',
	text: `
select ${columns}, c.site_id
from imaging_conflict c
join site s on s.id = c.site_id
${ofStudy}
where ($1::uuid[] is null or c.site_id = any ($1)) and ($2::boolean or c.settled_at is null) and ($3::uuid is null or c.id < $3)
order by c.id desc
limit $4`,
};

/** A conflict by its id, with the instance of its UID. */
export const showConflict: Statement = {
	name: 'show_conflict',
	text: `
select ${columns}, c.site_id, ${siteSettings} as site_settings, c.digest, c.object_key,
	i.digest as stored_digest, i.bytes::float8 as stored_bytes, i.object_key as stored_object_key, i.calling_ae as stored_calling_ae,
	i.source as stored_source, i.stored_at
from imaging_conflict c
join site s on s.id = c.site_id
${ofStudy}
left join imaging_instance i on i.site_id = c.site_id and i.sop_instance_uid = c.sop_instance_uid
where c.id = $1`,
};

/** Counts the open conflicts of each site. */
export const countOpenConflicts: Statement = {
	name: 'count_open_conflicts',
	text: `
select s.slug as site, count(c.id)::integer as open
from site s
left join imaging_conflict c on c.site_id = s.id and c.settled_at is null
group by s.slug`,
};

/** Lists objects that are kept aside, in pages by site and conflict, without those that are instances. */
export const conflictObjects: Statement = {
	name: 'conflict_objects',
	text: `
select c.site_id, c.id, c.object_key, greatest(c.received_at, c.settled_at) as changed_at
from imaging_conflict c
where (c.site_id, c.id) > ($1::uuid, $2::uuid)
	and not exists (
		select from imaging_instance i
		where i.site_id = c.site_id and i.sop_instance_uid = c.sop_instance_uid and i.object_key = c.object_key)
order by c.site_id, c.id
limit 1000`,
};
