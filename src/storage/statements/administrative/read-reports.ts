import type { Statement } from '../../statement.ts';
import { jsonOf, wholeText } from '../stored-text.ts';

/** A report that names no UID is about the studies of its patient that have its number (record/apply/report-studies). */
const byNumber = (study: string) =>
	`${study}.site_id = r.site_id and r.study_uid is null and ${study}.patient_id = r.patient_id
		and ${study}.accession_number in (r.accession_number, r.filler_number)`;

const studyOf = `
	select n.study_uid, n.accession_number, n.description from imaging_study n where n.site_id = r.site_id and n.study_uid = r.study_uid
	union all
	select n.study_uid, n.accession_number, n.description from imaging_study n where ${byNumber('n')}
	limit 1`;

const columns = `
	coalesce(r.given_id, r.id::text) as id, s.slug as site, t.study_uid as study, r.study_uid, t.accession_number as study_accession, r.accession_number,
	t.description as study_description, coalesce(p.given_id, p.id::text) as patient, ${wholeText('p.resource')} as patient_resource, r.origin, r.status, r.version, r.last_updated`;

const joined = `
join site s on s.id = r.site_id
left join lateral (${studyOf}) t on true
left join patient p on p.site_id = r.site_id and p.id = r.patient_id`;

/** A code of DiagnosticReport.category, which messages state in OBR-24. */
const hasCategory = `${jsonOf('r.resource')} -> 'category' @> jsonb_build_array(jsonb_build_object('coding', jsonb_build_array(jsonb_build_object('code', $6::text))))`;

/** It names a study or an accession number, as panels of a laboratory do not. */
const isOfImages = '(r.study_uid is not null or r.accession_number is not null)';

/** The filters, order and length of a list: `$2` a study, `$3` statuses, `$4` the id below which it begins, `$5` its rows. */
const filtered = `
	($2::text is null or r.study_uid = $2 or exists (select from imaging_study n where n.study_uid = $2 and ${byNumber('n')}))
	and ($3::text[] is null or r.status = any ($3))
	and ($4::uuid is null or r.id < $4)
	and ($6::text is null or ${hasCategory})
	and (not $7::boolean or ${isOfImages})
order by r.id desc
limit $5`;

/** Lists reports, newest first. A filter that is null does not apply; `$3` are the wanted statuses. */
export const listReportRows: Statement = {
	name: 'list_report_rows',
	text: `
select ${columns}, ${wholeText('r.resource')} as resource
from diagnostic_report r${joined}
where ($1::uuid[] is null or r.site_id = any ($1)) and ${filtered}`,
};

/**
 * Finds the reports that have one of some numbers, newest first: they are of the patients `$9` of the sites `$8`, or have one of the accession
 * numbers `$10` or of the filler's order numbers `$11`. Each is read by its own index; the other filters are those of the list.
 */
export const searchReportRows: Statement = {
	name: 'search_report_rows',
	text: `
select ${columns}, ${wholeText('r.resource')} as resource
from (
	select d.site_id, d.id from unnest($8::uuid[], $9::uuid[]) as i (site_id, patient_id)
	join diagnostic_report d on d.site_id = i.site_id and d.patient_id = i.patient_id
	union
	select d.site_id, d.id from site s join diagnostic_report d on d.site_id = s.id and d.accession_number = any ($10::text[])
	where $1::uuid[] is null or s.id = any ($1)
	union
	select d.site_id, d.id from site s join diagnostic_report d on d.site_id = s.id and d.filler_number = any ($11::text[])
	where $1::uuid[] is null or s.id = any ($1)
) f
join diagnostic_report r on r.site_id = f.site_id and r.id = f.id${joined}
where ${filtered}`,
};

/** The events of the audit trail about the report `$2` that wrote versions by hand: `$3` and `$4` are the ids around the time of each version. */
export const listReportEditors: Statement = {
	name: 'list_report_editors',
	text: `
select (e.detail ->> 'version')::integer as version, e.actor
from unnest($3::uuid[], $4::uuid[]) as k (first, last)
join audit_event e on e.site_id = $1 and e.id >= k.first and e.id < k.last
where e.subject = $2 and e.action in ('report.add', 'report.amend', 'report.complete')`,
};

/** Finds a report by id. Several sites may have one with the same id if clients chose it. */
export const showReportRow: Statement = {
	name: 'show_report_row',
	text: `
select ${columns}, ${wholeText('r.resource')} as resource, r.site_id, r.id as row_id
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
select coalesce(o.given_id, o.id::text) as id, ${wholeText('o.resource')} as resource
from unnest($2::uuid[]) with ordinality as k (id, position)
join observation o on o.site_id = $1 and o.id = k.id
order by k.position`,
};

/** Every version of a report, oldest first. */
export const listReportVersions: Statement = {
	name: 'list_report_versions',
	text: `
select v.version, v.last_updated, v.source, ${wholeText('v.resource')} as resource from (
	select h.version, h.last_updated, h.source, h.resource from resource_history h
	where h.site_id = $1 and h.resource_type = 'DiagnosticReport' and h.id = $2
	union all
	select r.version, r.last_updated, r.source, r.resource from diagnostic_report r where r.site_id = $1 and r.id = $2
) v
order by v.version`,
};
