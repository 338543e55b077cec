import type { Statement } from '../statement.ts';

/** Returns the given row ids that belong to no patient of the site, or to one that was merged into another; the latter are marked. */
export const unusablePatients: Statement = {
	name: 'unusable_patients',
	text: `
select k.id, p.id is not null
from unnest($2::uuid[]) as k (id)
left join patient p on p.site_id = $1 and p.id = k.id
where p.id is null or p.merged_into is not null`,
};
