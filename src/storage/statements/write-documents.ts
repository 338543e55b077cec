import type { Statement } from '../statement.ts';

/** Which resources documents state now, or no longer. */
export const upsertDocumentEntries: Statement = {
	name: 'upsert_document_entries',
	text: `
insert into document_entry (site_id, document_id, resource_type, item_key, patient_id, resource_id, stated_at, is_current)
select k.site_id, k.document_id, k.resource_type, k.item_key, k.patient_id, k.resource_id, k.stated_at, k.is_current
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::text[], $8::boolean[])
	as k (site_id, document_id, resource_type, item_key, patient_id, resource_id, stated_at, is_current)
on conflict (site_id, document_id, resource_type, item_key) do update set
	patient_id = excluded.patient_id, resource_id = excluded.resource_id, stated_at = excluded.stated_at, is_current = excluded.is_current`,
};

/** The bytes that documents brought. */
export const insertBinaries: Statement = {
	name: 'insert_binaries',
	text: `
insert into binary_content (site_id, id, document_id, content_type, last_updated, bytes)
select k.site_id, k.id, k.document_id, k.content_type, $5::timestamptz, substring($8::bytea from k.start for k.length)
from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $6::integer[], $7::integer[]) as k (site_id, id, document_id, content_type, start, length)`,
};
