import type { Statement } from '../statement.ts';
import { wholeText } from './stored-text.ts';

/** Rows of one answer. The next answer begins behind the last of them. */
export const deletedRowsMax = 1000;

/**
 * The resources of some types that were deleted after a moment: type, FHIR id, row id, and the content that they had. Only types that share a
 * table can be deleted.
 */
export const deletedResources: Statement = {
	name: 'deleted_resources',
	text: `
select r.resource_type, coalesce(r.given_id, r.id::text), r.id, ${wholeText('h.resource')}
from other_resource r
left join lateral (
	select v.resource from resource_history v
	where v.site_id = $1 and v.resource_type = r.resource_type and v.id = r.id and v.version = r.version - 1
) h on true
where r.site_id = $1 and r.deleted and r.resource_type = any($2::text[]) and r.last_updated > to_timestamp($3::bigint / 1000.0)
and (r.resource_type, r.id) > ($4::text, $5::uuid)
order by r.resource_type, r.id
limit ${deletedRowsMax}`,
};
