import type { TableShape } from '#record/table-shape.ts';
import type { Statement } from '../statement.ts';

/** The rows of one resource type that have the given ids, with their links. */
export function findRows({ table, links }: TableShape): Statement {
	return {
		name: `find_${table}_rows`,
		text: `
select r.site_id, r.id, r.given_id, r.version, r.last_updated, r.source, r.meta, r.resource${linkList(links)}
from unnest($1::uuid[], $2::uuid[]) as k (site_id, id)
join ${table} r on r.site_id = k.site_id and r.id = k.id`,
	};
}

/** What patients have under the given item keys. */
export function findItems({ table, links }: TableShape): Statement {
	return {
		name: `find_${table}_items`,
		text: `
select r.site_id, r.id, r.given_id, r.version, r.last_updated, r.source, r.meta, r.resource${linkList(links)}
from unnest($1::uuid[], $2::uuid[], $3::text[]) as k (site_id, patient_id, item_key)
join ${table} r on r.site_id = k.site_id and r.patient_id = k.patient_id and r.item_key = k.item_key`,
	};
}

function linkList(links: TableShape['links']): string {
	return links.map(({ name }) => `, r.${name}`).join('');
}
