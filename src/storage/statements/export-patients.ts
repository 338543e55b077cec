import type { Statement } from '../statement.ts';
import { namedRow } from './search-terms.ts';
import { jsonOf } from './stored-text.ts';

const entity = (type: string) => namedRow("(m.v -> 'entity' ->> 'reference')", type);

/**
 * The patients of a Group. A member that is marked inactive or whose period does not hold now is none; those of a Group that is a member are
 * members too, and a Group that leads to itself ends there. One who was merged stands with the survivor.
 */
export const membersOfGroup: Statement = {
	name: 'members_of_group',
	text: `
with recursive member (group_id, patient_id) as (
	select $2::uuid, null::uuid
	union
	select ${entity('Group')}, ${entity('Patient')}
	from member g
	join other_resource r on r.site_id = $1 and r.resource_type = 'Group' and r.id = g.group_id and not r.deleted
	cross join lateral jsonb_path_query(${jsonOf('r.resource')}, '$.member[*]') m (v)
	where m.v ->> 'inactive' is distinct from 'true'
	and coalesce(tributary_date_range(m.v -> 'period') @> now(), true)
), named as (
	select distinct patient_id as id from member where patient_id is not null
)
select id from named
union
select tributary_survivor($1, p.merged_into) from named join patient p on p.site_id = $1 and p.id = named.id and p.merged_into is not null`,
};

/** The given patients with the survivors of those who were merged, each with the one who was given. Unknown ones are left out. */
export const samePatients: Statement = {
	name: 'same_patients',
	text: `
select p.id, k.id from unnest($2::uuid[]) k (id) join patient p on p.site_id = $1 and p.id = k.id
union all
select tributary_survivor($1, p.merged_into), k.id
from unnest($2::uuid[]) k (id) join patient p on p.site_id = $1 and p.id = k.id and p.merged_into is not null`,
};
