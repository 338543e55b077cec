import type { TableShape } from '#record/table-shape.ts';
import type { Statement } from '../statement.ts';

function columns({ links }: TableShape): string {
	return `r.site_id, r.id, r.given_id, r.version, r.last_updated, r.source, r.meta, r.resource${links.map(({ name }) => `, r.${name}`).join('')}`;
}

/** The reports of the given orders. */
export function findReports(shape: TableShape): Statement {
	return {
		name: 'find_reports',
		text: `
select ${columns(shape)}
from unnest($1::uuid[], $2::text[]) as k (site_id, order_key)
join diagnostic_report r on r.site_id = k.site_id and r.order_key = k.order_key`,
	};
}

/** The reports that name one of the given studies, by its UID or by its accession number. */
export function findReportsOfStudies(shape: TableShape): Statement {
	return {
		name: 'find_reports_of_studies',
		text: `
select ${columns(shape)}
from unnest($1::uuid[], $2::text[], $3::text[]) as k (site_id, study_uid, accession_number)
join diagnostic_report r on r.site_id = k.site_id and r.study_uid = k.study_uid
union all
select ${columns(shape)}
from unnest($1::uuid[], $2::text[], $3::text[]) as k (site_id, study_uid, accession_number)
join diagnostic_report r on r.site_id = k.site_id and r.accession_number = k.accession_number
union all
select ${columns(shape)}
from unnest($1::uuid[], $2::text[], $3::text[]) as k (site_id, study_uid, accession_number)
join diagnostic_report r on r.site_id = k.site_id and r.filler_number = k.accession_number`,
	};
}
