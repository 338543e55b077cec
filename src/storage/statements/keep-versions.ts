import type { TableShape } from '#record/table-shape.ts';
import type { Statement } from '../statement.ts';

/** Copies the stored versions of the given rows into the history, before they are overwritten. */
export function keepStoredVersions({ table, resourceType }: TableShape): Statement {
	return {
		name: `keep_${table}_versions`,
		text: `
insert into resource_history (site_id, resource_type, id, given_id, version, last_updated, source, meta, resource)
select r.site_id, '${resourceType}', r.id, r.given_id, r.version, r.last_updated, r.source, r.meta, r.resource
from unnest($1::uuid[], $2::uuid[]) as k (site_id, id)
join ${table} r on r.site_id = k.site_id and r.id = k.id`,
	};
}

/** Versions that came and went within one batch: they never stood in the resource's table. */
export const insertVersions: Statement = {
	name: 'insert_versions',
	text: `
insert into resource_history (site_id, resource_type, id, given_id, version, last_updated, source, meta, resource)
select k.site_id, k.resource_type, k.id, k.given_id, k.version, k.last_updated, k.source, k.meta, convert_from(substring($10::bytea from k.start for k.length), 'UTF8')
from unnest($1::uuid[], $2::text[], $3::uuid[], $4::integer[], $5::timestamptz[], $6::text[], $7::text[], $8::integer[], $9::integer[], $11::text[])
	as k (site_id, resource_type, id, version, last_updated, source, meta, start, length, given_id)`,
};
