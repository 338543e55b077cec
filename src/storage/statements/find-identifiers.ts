import type { Statement } from '../statement.ts';

/** Every patient that carries one of the identifier values, whatever the authority. */
export const findIdentifiers: Statement = {
	name: 'find_identifiers',
	text: `
select i.site_id, i.value, i.system, i.patient_id, i.old, i.rank
from unnest($1::uuid[], $2::text[]) as k (site_id, value)
join patient_identifier i on i.site_id = k.site_id and i.value = k.value`,
};
