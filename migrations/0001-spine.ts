import { Migration } from '@mikro-orm/migrations';

/**
 * The first schema. Locks: none that matter, every table is new.
 * The site's id leads every key, so that the schema can be distributed by it later.
 */
export class Spine extends Migration {
	override up(): void {
		this.addSql(administration);
		this.addSql(siteRecord);
		this.addSql(messageLog);
	}
}

const administration = `
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create table site (
	id uuid primary key,
	slug text not null unique,
	name text not null,
	ae_title text unique,
	default_authority text,
	active boolean not null default true,
	created_at timestamptz not null default now()
);

create table app_user (
	id uuid primary key,
	email text not null unique,
	password_hash text,
	administrator boolean not null default false,
	active boolean not null default true,
	created_at timestamptz not null default now()
);

create table site_member (
	site_id uuid not null references site (id),
	user_id uuid not null references app_user (id),
	primary key (site_id, user_id)
);

create table api_key (
	id text primary key,
	site_id uuid not null references site (id),
	owner_id uuid not null references app_user (id),
	label text not null default '',
	secret_hash bytea not null,
	created_at timestamptz not null default now(),
	last_used_at timestamptz,
	revoked_at timestamptz
);
create index api_key_site on api_key (site_id);

create table integration_client (
	site_id uuid not null references site (id),
	id uuid not null,
	name text not null,
	protocols text[] not null,
	allowed_ips text[] not null,
	sending_application text,
	sending_facility text,
	calling_ae text,
	ack_mode text not null default 'original' check (ack_mode in ('original', 'enhanced')),
	also_events text[] not null default '{}',
	ignore_events text[] not null default '{}',
	grants text[] not null default '{}',
	active boolean not null default true,
	created_at timestamptz not null default now(),
	primary key (site_id, id),
	unique (site_id, name)
);

-- One row; every administrative change advances it, every node polls it.
create table access_version (
	one boolean primary key default true check (one),
	version bigint not null
);
insert into access_version (version) values (1);

create table audit_event (
	id uuid primary key,
	recorded_at timestamptz not null,
	site_id uuid,
	actor text not null,
	action text not null,
	subject text not null,
	source text,
	detail jsonb not null default '{}'
);
create index audit_event_site on audit_event (site_id, recorded_at);
`;

const siteRecord = `
-- toast_tuple_target: a row of ordinary size is not compressed, which would cost more than all else of writing it.
-- Locked and advanced by every transaction that writes to the site: the single writer, and the order of its writes.
create table site_turn (
	site_id uuid primary key,
	sequence bigint not null default 0
) with (fillfactor = 50);

create table patient (
	site_id uuid not null,
	id uuid not null,
	version integer not null,
	last_updated timestamptz not null,
	source text,
	meta text,
	resource text not null,
	active boolean not null default true,
	name text not null default '',
	-- First day of the birth date's range, and the day after its last: 1970-05 is a month.
	birth_date date,
	birth_date_end date,
	gender text,
	merged_into uuid,
	primary key (site_id, id)
) with (fillfactor = 80, toast_tuple_target = 8160);
create index patient_name on patient using gin (site_id, name gin_trgm_ops);
create index patient_birth_date on patient (site_id, birth_date, id);
create index patient_gender on patient (site_id, gender, id);

create table patient_identifier (
	site_id uuid not null,
	value text not null,
	system text not null,
	patient_id uuid not null,
	-- Carried from a merge; the patient answers to it no longer by itself.
	old boolean not null,
	-- Position in the resource; 0 is the business identifier.
	rank smallint not null,
	primary key (site_id, value, system, patient_id)
);
create index patient_identifier_patient on patient_identifier (site_id, patient_id);

create table encounter (
	site_id uuid not null,
	id uuid not null,
	version integer not null,
	last_updated timestamptz not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid not null,
	recorded_patient_id uuid,
	visit_key text not null,
	status text not null,
	class text,
	period_start timestamptz,
	period_end timestamptz,
	primary key (site_id, id)
) with (fillfactor = 80, toast_tuple_target = 8160);
create index encounter_patient on encounter (site_id, patient_id, id);
create index encounter_visit on encounter (site_id, visit_key);

create table observation (
	site_id uuid not null,
	id uuid not null,
	version integer not null,
	last_updated timestamptz not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	encounter_id uuid,
	order_key text,
	item_key text,
	status text not null,
	code_system text,
	code_value text,
	code_further text[],
	effective_start timestamptz,
	effective_end timestamptz,
	primary key (site_id, id)
) with (fillfactor = 90, toast_tuple_target = 8160);
create index observation_patient on observation (site_id, patient_id, id);
create index observation_code on observation (site_id, code_value, id);
-- Three tokens for each further coding: those of the second end with its bare code.
create index observation_code_second on observation (site_id, (code_further[3]), id) where code_further is not null;
create index observation_code_further on observation using gin (site_id, code_further) where array_length(code_further, 1) > 3;
create unique index observation_order on observation (site_id, order_key, item_key) where order_key is not null;

-- Earlier versions; the current one stands in the resource's own table.
create table resource_history (
	site_id uuid not null,
	resource_type text not null,
	id uuid not null,
	version integer not null,
	last_updated timestamptz not null,
	source text,
	meta text,
	resource text not null,
	primary key (site_id, resource_type, id, version)
) with (toast_tuple_target = 8160);
`;

const messageLog = `
-- Messages as they were received (byte for byte, for replay), with their answers and changes.
create table message_log (
	site_id uuid not null,
	id uuid not null,
	sequence bigint not null,
	surface text not null,
	client_id uuid not null,
	source text not null,
	received_at timestamptz not null,
	committed_at timestamptz not null,
	message_type text not null,
	control_id text not null,
	outcome text not null check (outcome in ('accepted', 'refused', 'ignored', 'duplicate')),
	failure_code text,
	failure text,
	flags jsonb,
	changed jsonb,
	replay_of uuid,
	bytes bytea not null,
	ack bytea not null,
	primary key (site_id, id)
) with (toast_tuple_target = 8160);
-- A message of ordinary size stays in its row, as it came: compressing it costs more than its room.
alter table message_log alter column bytes set storage external;

-- Applied once: what was accepted, by sender, control id and digest of the bytes (first 128 bits of SHA-256).
create table accepted_message (
	site_id uuid not null,
	client_id uuid not null,
	control_id text not null,
	digest uuid not null,
	message_id uuid not null,
	accepted_at timestamptz not null,
	primary key (site_id, client_id, control_id, digest)
);

-- Messages that belong to no site: the address fits a client, MSH-3/MSH-4 do not, or two sites tie.
create table unmatched_message (
	id uuid primary key,
	received_at timestamptz not null,
	surface text not null,
	source text not null,
	reason text not null,
	message_type text not null,
	control_id text not null,
	bytes bytea not null
);
`;
