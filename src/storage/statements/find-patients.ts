import type { Statement } from '../statement.ts';

/** The patients that carry one of the identifier values, and those that replaced them, to the end of each chain. */
export const findPatients: Statement = {
	name: 'find_patients',
	text: `
with recursive wanted as (
	select p.site_id, p.id, p.merged_into
	from unnest($1::uuid[], $2::text[]) as k (site_id, value)
	join patient_identifier i on i.site_id = k.site_id and i.value = k.value
	join patient p on p.site_id = i.site_id and p.id = i.patient_id
	union
	select p.site_id, p.id, p.merged_into
	from wanted w
	join patient p on p.site_id = w.site_id and p.id = w.merged_into
)
select p.site_id, p.id, p.version, p.last_updated, p.source, p.meta, p.resource, p.merged_into
from wanted w
join patient p on p.site_id = w.site_id and p.id = w.id`,
};
