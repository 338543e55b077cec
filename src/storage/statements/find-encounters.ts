import type { Statement } from '../statement.ts';

/** The visits of the given keys, of whatever patient. */
export const findEncounters: Statement = {
	name: 'find_encounters',
	text: `
select e.site_id, e.id, e.given_id, e.version, e.last_updated, e.source, e.meta, e.resource, e.patient_id, e.visit_key
from unnest($1::uuid[], $2::text[]) as k (site_id, visit_key)
join encounter e on e.site_id = k.site_id and e.visit_key = k.visit_key`,
};
