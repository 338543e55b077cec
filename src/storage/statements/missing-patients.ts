import type { Statement } from '../statement.ts';

/** Returns the given row ids that belong to no patient of the site. */
export const missingPatients: Statement = {
	name: 'missing_patients',
	text: `
select k.id
from unnest($2::uuid[]) as k (id)
left join patient p on p.site_id = $1 and p.id = k.id
where p.id is null`,
};
