import type { Statement } from '../statement.ts';

/** Every entry of the identifier values, whatever the authority, each with the patient that carries it. */
export const findPatients: Statement = {
	name: 'find_patients',
	text: `
select p.site_id, p.id, p.given_id, p.version, p.last_updated, p.source, p.meta, p.resource, p.merged_into, i.value, i.system, i.old, i.rank
from unnest($1::uuid[], $2::text[]) as k (site_id, value)
join patient_identifier i on i.site_id = k.site_id and i.value = k.value
join patient p on p.site_id = i.site_id and p.id = i.patient_id`,
};

/** The patients that replaced the given ones, to the end of each chain of merges. */
export const findSurvivors: Statement = {
	name: 'find_survivors',
	text: `
with recursive survivor as (
	select p.site_id, p.id, p.merged_into
	from unnest($1::uuid[], $2::uuid[]) as k (site_id, id)
	join patient p on p.site_id = k.site_id and p.id = k.id
	union
	select p.site_id, p.id, p.merged_into
	from survivor s
	join patient p on p.site_id = s.site_id and p.id = s.merged_into
)
select p.site_id, p.id, p.given_id, p.version, p.last_updated, p.source, p.meta, p.resource, p.merged_into
from survivor s
join patient p on p.site_id = s.site_id and p.id = s.id`,
};
