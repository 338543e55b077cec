import type { Statement } from '../statement.ts';

/** Forgets the identifiers of the patients whose list changed. */
export const deleteIdentifiers: Statement = {
	name: 'delete_identifiers',
	text: `
delete from patient_identifier i
using unnest($1::uuid[], $2::uuid[]) as k (site_id, patient_id)
where i.site_id = k.site_id and i.patient_id = k.patient_id`,
};

export const insertIdentifiers: Statement = {
	name: 'insert_identifiers',
	text: `
insert into patient_identifier (site_id, value, system, patient_id, old, rank)
select k.site_id, k.value, k.system, k.patient_id, k.old, k.rank
from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::boolean[], $6::smallint[]) as k (site_id, value, system, patient_id, old, rank)`,
};
