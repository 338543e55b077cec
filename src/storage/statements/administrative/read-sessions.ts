import type { Statement } from '../../statement.ts';

const columns = `
	m.id, s.slug as site, m.sop_instance_uid, m.study_uid, m.status, m.late, m.patient_id, m.patient_name, m.accession_number, m.modality,
	coalesce(m.other_study_uids, '{}') as other_study_uids, m.station_ae, m.station_name, m.step_id, m.started, m.ended, m.reports, m.created_at, m.updated_at,
	t.patient_id as patient_record_id, t.id as imaging_study_id, t.series_count as study_series, t.instance_count as study_instances`;

/** A session has no key to its study. Either may come first, so they are joined when they are read. */
const study = 'left join imaging_study t on t.site_id = m.site_id and t.study_uid = m.study_uid';

/** Lists procedure steps, newest first. A filter that is null does not apply; `$4` and `$5` are the numbers of which a step has one. */
export const listSessions: Statement = {
	name: 'list_sessions',
	text: `
select ${columns}
from mpps_session m
join site s on s.id = m.site_id
${study}
where ($1::uuid[] is null or m.site_id = any ($1))
	and ($2::text is null or m.status = $2)
	and ($3::text is null or m.study_uid = $3 or (m.other_study_uids is not null and m.other_study_uids @> array[$3]))
	and ($4::text[] is null or m.patient_id = any ($4))
	and ($5::text[] is null or m.accession_number = any ($5))
	and ($6::uuid is null or m.id < $6)
order by m.id desc
limit $7`,
};

/** Finds a session by its id or by SOP Instance UID, under which every site may have one. */
export const showSession: Statement = {
	name: 'show_session',
	text: `
select ${columns}, m.site_id, m.patient_issuer, m.series_uids, m.attributes,
	array(select k.uid from unnest(m.series_uids) with ordinality as k (uid, place)
		where not exists (select from imaging_series r where r.site_id = m.site_id and r.study_uid = m.study_uid and r.series_uid = k.uid)
		order by k.place) as missing_series_uids
from mpps_session m
join site s on s.id = m.site_id
${study}
where ($1::uuid[] is null or m.site_id = any ($1)) and (m.id = $2::uuid or m.sop_instance_uid = $3::text)`,
};

/** The accepted reports of a session, first to last. */
export const listReports: Statement = {
	name: 'list_reports',
	text: `
select number, message_id, recorded_at, source, status, attributes
from mpps_event
where site_id = $1 and session_id = $2
order by number`,
};
