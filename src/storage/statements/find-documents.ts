import type { TableShape } from '#record/table-shape.ts';
import type { Statement } from '../statement.ts';

/** The patients' documents that have one of the keys as their own, as that of their set, or as that of the document which they replace. */
export function findDocuments({ table, links }: TableShape): Statement {
	const linkColumns = links.map(({ name }) => `, r.${name}`).join('');
	const by = (column: string) => `
select r.site_id, r.id, r.given_id, r.version, r.last_updated, r.source, r.meta, r.resource${linkColumns}
from unnest($1::uuid[], $2::uuid[], $3::text[]) as k (site_id, patient_id, key)
join ${table} r on r.site_id = k.site_id and r.${column} = k.key and r.patient_id = k.patient_id`;
	return { name: 'find_documents', text: ['document_key', 'set_key', 'replaces_key'].map(by).join('\nunion all') };
}

/** Whose documents have the keys: a few of the patients, where a sender gave an id more than once. */
export const findDocumentOwners: Statement = {
	name: 'find_document_owners',
	text: `
select k.site_id, k.key, d.patient_id
from unnest($1::uuid[], $2::text[]) as k (site_id, key)
cross join lateral (
	select r.patient_id from document_reference r where r.site_id = k.site_id and r.document_key = k.key limit 4) d
where d.patient_id is not null`,
};

/** What the documents state now: what versions before stated is found by its items, so that a long history is not read anew with each version. */
export const findDocumentEntries: Statement = {
	name: 'find_document_entries',
	text: `
select e.site_id, e.document_id, e.patient_id, e.resource_type, e.item_key, e.resource_id, e.stated_at
from unnest($1::uuid[], $2::uuid[]) as k (site_id, document_id)
join document_entry e on e.site_id = k.site_id and e.document_id = k.document_id and e.is_current`,
};

/** The resources of the patients' items, each with the latest time at which a current document states it that is none of those in $5. */
export const findStatedItems: Statement = {
	name: 'find_stated_items',
	text: `
select e.site_id, e.patient_id, e.resource_type, e.item_key, e.resource_id,
	max(e.stated_at collate "C") filter (where e.is_current and e.document_id <> all ($5::uuid[]))
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as k (site_id, patient_id, resource_type, item_key)
join document_entry e on e.site_id = k.site_id and e.patient_id = k.patient_id and e.resource_type = k.resource_type and e.item_key = k.item_key
group by e.site_id, e.patient_id, e.resource_type, e.item_key, e.resource_id`,
};
