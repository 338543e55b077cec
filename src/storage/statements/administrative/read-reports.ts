import type { Statement } from '../../statement.ts';

const columns = `
	coalesce(r.given_id, r.id::text) as id, s.slug as site, r.study_uid, t.accession_number as study_accession, r.accession_number,
	coalesce(p.given_id, p.id::text) as patient, r.status, r.version, r.last_updated`;

const joined = `
join site s on s.id = r.site_id
left join imaging_study t on t.site_id = r.site_id and t.study_uid = r.study_uid
left join patient p on p.site_id = r.site_id and p.id = r.patient_id`;

/** Reports, newest first; every filter that is null asks for nothing. `$3` are the statuses that are wanted. */
export const listReportRows: Statement = {
	name: 'list_report_rows',
	text: `
select ${columns}, r.resource
from diagnostic_report r${joined}
where ($1::uuid is null or r.site_id = $1)
	and ($2::text is null or r.study_uid = $2)
	and ($3::text[] is null or r.status = any ($3))
	and ($4::uuid is null or r.id < $4)
order by r.id desc
limit $5`,
};

/** By id, under which several sites may have one where clients chose it. */
export const showReportRow: Statement = {
	name: 'show_report_row',
	text: `
select ${columns}, r.resource, r.site_id, r.id as row_id
from site s
join lateral (select * from diagnostic_report d where d.site_id = s.id and d.id = $2::uuid offset 0) r on true
left join imaging_study t on t.site_id = r.site_id and t.study_uid = r.study_uid
left join patient p on p.site_id = r.site_id and p.id = r.patient_id
where $1::uuid is null or s.id = $1`,
};

/** Every version of a report, oldest first. */
export const listReportVersions: Statement = {
	name: 'list_report_versions',
	text: `
select v.version, v.last_updated, v.resource from (
	select h.version, h.last_updated, h.resource from resource_history h
	where h.site_id = $1 and h.resource_type = 'DiagnosticReport' and h.id = $2
	union all
	select r.version, r.last_updated, r.resource from diagnostic_report r where r.site_id = $1 and r.id = $2
) v
order by v.version`,
};
