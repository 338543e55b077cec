import type { TableShape } from '#record/table-shape.ts';
import type { Statement } from '../statement.ts';
import { keyed, nameOf } from './relation.ts';

/** Copies the stored versions of the given rows into the history, before they are overwritten. */
export function keepStoredVersions(shape: TableShape): Statement {
	const { keptIn, resourceType } = shape;
	const { from, where } = keyed(shape, 'unnest($1::uuid[], $2::uuid[])', 'site_id, id');
	return {
		name: `keep_${nameOf(shape.table)}_versions`,
		text: `
insert into resource_history (site_id, resource_type, id, given_id, version, last_updated, source, meta, resource)
select r.site_id, '${resourceType}', r.id, r.given_id, r.version, r.last_updated, r.source, r.meta, r.resource
from ${from}
join ${keptIn} r on r.site_id = k.site_id and r.id = k.id${where}`,
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
