import type { Statement } from '../../statement.ts';

/** A report that names no UID is about the studies of its patient that have its number (record/apply/report-studies). */
const byNumber = (study: string) =>
	`${study}.site_id = r.site_id and r.study_uid is null and ${study}.patient_id = r.patient_id
		and ${study}.accession_number in (r.accession_number, r.filler_number)`;

const studyOf = `
	select n.study_uid, n.accession_number from imaging_study n where n.site_id = r.site_id and n.study_uid = r.study_uid
	union all
	select n.study_uid, n.accession_number from imaging_study n where ${byNumber('n')}
	limit 1`;

const columns = `
	coalesce(r.given_id, r.id::text) as id, s.slug as site, t.study_uid as study, r.study_uid, t.accession_number as study_accession, r.accession_number,
	coalesce(p.given_id, p.id::text) as patient, r.origin, r.status, r.version, r.last_updated`;

const joined = `
join site s on s.id = r.site_id
left join lateral (${studyOf}) t on true
left join patient p on p.site_id = r.site_id and p.id = r.patient_id`;

/** Lists reports, newest first. A filter that is null does not apply; `$3` are the wanted statuses. */
export const listReportRows: Statement = {
	name: 'list_report_rows',
	text: `
select ${columns}, r.resource
from diagnostic_report r${joined}
where ($1::uuid[] is null or r.site_id = any ($1))
	and ($2::text is null or r.study_uid = $2 or exists (select from imaging_study n where n.study_uid = $2 and ${byNumber('n')}))
	and ($3::text[] is null or r.status = any ($3))
	and ($4::uuid is null or r.id < $4)
order by r.id desc
limit $5`,
};

/** Finds a report by id. Several sites may have one with the same id if clients chose it. */
export const showReportRow: Statement = {
	name: 'show_report_row',
	text: `
select ${columns}, r.resource, r.site_id, r.id as row_id
from site s
join lateral (select * from diagnostic_report d where d.site_id = s.id and d.id = $2::uuid offset 0) r on true
left join lateral (${studyOf}) t on true
left join patient p on p.site_id = r.site_id and p.id = r.patient_id
where $1::uuid[] is null or s.id = any ($1)`,
};

/** Finds observations of a site by their row ids, in the order given. */
export const listReportResults: Statement = {
	name: 'list_report_results',
	text: `
select coalesce(o.given_id, o.id::text) as id, o.resource
from unnest($2::uuid[]) with ordinality as k (id, position)
join observation o on o.site_id = $1 and o.id = k.id
order by k.position`,
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
