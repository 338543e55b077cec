import { Migration } from '@mikro-orm/migrations';

/**
 * Clinical documents (CDA): what leads to the versions of a document, what its entries became, and the bytes. Locks: `add
 * column` takes an exclusive lock for a moment and rewrites nothing; the indexes are built while writes of document references
 * wait, about a second for a million rows.
 */
export class Documents extends Migration {
	override up(): void {
		this.addSql(versions);
		this.addSql(entries);
		this.addSql(binaries);
		this.addSql(state);
	}
}

const versions = `
-- Ids of the document, of its set of versions and of the document that it replaces, as the sender gave them; its version and time.
-- Not unique: a merge may bring two together.
alter table document_reference add column document_key text;
alter table document_reference add column set_key text;
alter table document_reference add column set_version text;
alter table document_reference add column stated_at text;
alter table document_reference add column replaces_key text;
create index document_reference_document on document_reference (site_id, document_key, patient_id) where document_key is not null;
create index document_reference_set on document_reference (site_id, set_key, patient_id) where set_key is not null;
create index document_reference_replaces on document_reference (site_id, replaces_key, patient_id) where replaces_key is not null;
`;

const entries = `
-- Resources that a document states, with the item that identifies them within the patient.
create table document_entry (
	site_id uuid not null,
	document_id uuid not null,
	resource_type text not null,
	item_key text not null,
	-- The patient of the document; it moves with the document.
	patient_id uuid not null,
	resource_id uuid not null,
	stated_at text not null,
	-- False once the document is superseded, or does not state it any more.
	is_current boolean not null,
	primary key (site_id, document_id, resource_type, item_key)
);
create index document_entry_item on document_entry (site_id, patient_id, item_key, resource_type);
`;

const binaries = `
-- FHIR Binary: written once, never changed. Read in pieces, so not compressed.
create table binary_content (
	site_id uuid not null,
	id uuid not null,
	-- The DocumentReference that brought it: Binary.securityContext.
	document_id uuid not null,
	content_type text not null,
	last_updated timestamptz not null,
	bytes bytea not null,
	primary key (site_id, id)
);
alter table binary_content alter column bytes set storage external;
`;

/** See 0007-statistics: what the planner shall take for granted until the first ANALYZE. */
const state = `
do $$
begin
	if current_setting('server_version_num')::integer >= 180000 then
		perform pg_restore_attribute_stats(
			'schemaname', current_schema()::text, 'relname', k.relation, 'attname', k.name,
			'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', k.different)
		from (values
			('document_reference', 'document_key', -0.9::real), ('document_reference', 'set_key', -0.5::real),
			('document_reference', 'replaces_key', -0.9::real),
			('document_entry', 'site_id', 20::real), ('document_entry', 'document_id', -0.02::real), ('document_entry', 'resource_type', 5::real),
			('document_entry', 'item_key', -0.5::real), ('document_entry', 'patient_id', -0.01::real),
			('binary_content', 'site_id', 20::real), ('binary_content', 'id', -1::real)) as k (relation, name, different)
		where not exists (select 1 from pg_stats s
			where s.schemaname = current_schema() and s.tablename = k.relation and s.attname = k.name);
	end if;
end
$$;
`;
