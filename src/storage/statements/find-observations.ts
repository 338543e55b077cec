import type { Statement } from '../statement.ts';

/** Every observation of the given orders. */
export const findObservations: Statement = {
	name: 'find_observations',
	text: `
select o.site_id, o.id, o.given_id, o.version, o.last_updated, o.source, o.meta, o.resource, o.patient_id, o.encounter_id, o.order_key, o.item_key
from unnest($1::uuid[], $2::text[]) as k (site_id, order_key)
join observation o on o.site_id = k.site_id and o.order_key = k.order_key`,
};
