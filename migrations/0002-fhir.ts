import { Migration } from '@mikro-orm/migrations';

/**
 * The clinical resource types beside Observation and Encounter, ids that clients assign, and the order of changes.
 * Locks: `add column` takes an exclusive lock for a moment and rewrites nothing; the new indexes are built while writes of
 * that table wait, about a second for a million rows.
 */
export class Fhir extends Migration {
	override up(): void {
		this.addSql(sites);
		this.addSql(ids);
		for (const table of clinicalTables) this.addSql(clinicalTable(table));
		this.addSql(changes);
	}
}

const sites = `
alter table site add column update_creates boolean not null default true;
alter table site add column check_references boolean not null default true;
-- The key that seals page cursors, the same on every node.
alter table access_version add column cursor_key bytea not null
	default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');
`;

/** If a client chose the id, \`given_id\` holds it and \`id\` is derived from it. */
const ids = `
alter table patient add column given_id text;
alter table encounter add column given_id text;
alter table observation add column given_id text;
alter table resource_history add column given_id text;
-- Imported resources may have neither.
alter table encounter alter column patient_id drop not null, alter column visit_key drop not null;
`;

interface ClinicalTable {
	name: string;
	columns: string;
	indexes: readonly string[];
}

const coding = `
	code_system text,
	code_value text,
	code_further text[],`;

const clinicalTables: readonly ClinicalTable[] = [
	{
		name: 'condition',
		columns: `
	encounter_id uuid,
	clinical_status text,${coding}
	onset_start timestamptz,
	onset_end timestamptz,
	recorded_start timestamptz,
	recorded_end timestamptz,`,
		indexes: ['clinical_status'],
	},
	{
		name: 'allergy_intolerance',
		columns: `
	clinical_status text,${coding}
	recorded_start timestamptz,
	recorded_end timestamptz,`,
		indexes: ['clinical_status'],
	},
	{
		name: 'procedure',
		columns: `
	encounter_id uuid,
	status text,${coding}
	performed_start timestamptz,
	performed_end timestamptz,`,
		indexes: [],
	},
	{
		name: 'document_reference',
		columns: `
	status text,${coding}
	date_start timestamptz,
	date_end timestamptz,`,
		indexes: [],
	},
	{
		name: 'diagnostic_report',
		columns: `
	encounter_id uuid,
	status text,${coding}
	effective_start timestamptz,
	effective_end timestamptz,
	issued_start timestamptz,
	issued_end timestamptz,`,
		indexes: ['status'],
	},
];

function clinicalTable({ name, columns, indexes }: ClinicalTable): string {
	const further = indexes.map((column) => `create index ${name}_${column} on ${name} (site_id, ${column}, id);`);
	return `
create table ${name} (
	site_id uuid not null,
	id uuid not null,
	given_id text,
	version integer not null,
	last_updated timestamptz not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	-- The key that a sender gives it within the patient. The next message finds it again by this.
	item_key text,${columns}
	primary key (site_id, id)
) with (fillfactor = 90, toast_tuple_target = 8160);
create index ${name}_patient on ${name} (site_id, patient_id, id);
create index ${name}_item on ${name} (site_id, patient_id, item_key) where item_key is not null;
create index ${name}_code on ${name} (site_id, code_value, id);
create index ${name}_code_second on ${name} (site_id, (code_further[3]), id) where code_further is not null;
create index ${name}_code_further on ${name} using gin (site_id, code_further) where array_length(code_further, 1) > 3;
${further.join('\n')}
`;
}

const tables = [...clinicalTables.map(({ name }) => name), 'patient', 'encounter', 'observation'];

const changes = `
${tables.map((name) => `create index ${name}_changes on ${name} (site_id, last_updated, id);`).join('\n')}
create index resource_history_changes on resource_history (site_id, resource_type, last_updated, id);
create index encounter_status on encounter (site_id, status, id);

-- Text as the product folds it (src/fhir/fold.ts), for what is searched in the resource itself.
create function tributary_fold(value text) returns text language sql immutable strict parallel safe
return replace(lower(upper(normalize(value, NFC) collate "und-x-icu") collate "und-x-icu"), 'ς', 'σ');
`;
