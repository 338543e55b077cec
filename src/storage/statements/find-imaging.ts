import type { Statement } from '../statement.ts';

/** Instances of the given UIDs. */
export const findInstances: Statement = {
	name: 'find_instances',
	text: `
select i.site_id, i.sop_instance_uid, i.digest, i.object_key, i.study_uid, i.bytes, i.calling_ae, i.source, i.stored_at
from unnest($1::uuid[], $2::text[]) as k (site_id, sop_instance_uid)
join imaging_instance i on i.site_id = k.site_id and i.sop_instance_uid = k.sop_instance_uid`,
};

/** Studies of the given UIDs, each with its series. */
export const findStudies: Statement = {
	name: 'find_studies',
	text: `
select t.site_id, t.study_uid, t.id, t.patient_id, t.accession_number, t.started, t.instance_count, s.series_uid
from unnest($1::uuid[], $2::text[]) as k (site_id, study_uid)
join imaging_study t on t.site_id = k.site_id and t.study_uid = k.study_uid
left join imaging_series s on s.site_id = t.site_id and s.study_uid = t.study_uid`,
};

/** Studies of the given accession numbers. */
export const findStudiesByAccession: Statement = {
	name: 'find_studies_by_accession',
	text: `
select t.site_id, t.study_uid, t.id, t.patient_id, t.accession_number, t.started, t.instance_count
from unnest($1::uuid[], $2::text[]) as k (site_id, accession_number)
join imaging_study t on t.site_id = k.site_id and t.accession_number = k.accession_number`,
};

/** Objects of the given UIDs and digests that are kept aside, whether or not somebody has settled that. */
export const findKeptObjects: Statement = {
	name: 'find_kept_objects',
	text: `
select c.site_id, c.sop_instance_uid, c.digest, c.object_key
from unnest($1::uuid[], $2::text[], $3::text[]) as k (site_id, sop_instance_uid, digest)
join imaging_conflict c on c.site_id = k.site_id and c.sop_instance_uid = k.sop_instance_uid and c.digest = k.digest`,
};

export const findConflicts: Statement = {
	name: 'find_conflicts',
	text: `
select c.site_id, c.id, c.sop_instance_uid, c.object_key, c.settled_at
from unnest($1::uuid[], $2::uuid[]) as k (site_id, id)
join imaging_conflict c on c.site_id = k.site_id and c.id = k.id`,
};

/** What the sites want of other content under a known UID. */
export const findInstancePolicies: Statement = {
	name: 'find_instance_policies',
	text: `
select s.id, s.instance_policy
from unnest($1::uuid[]) as k (site_id)
join site s on s.id = k.site_id`,
};
