create table accepted_message (
	site_id uuid not null,
	client_id uuid not null,
	control_id text not null,
	digest uuid not null,
	message_id uuid not null,
	accepted_at timestamp with time zone not null,
	PRIMARY KEY (site_id, client_id, control_id, digest)
);

create table access_version (
	one boolean not null default true,
	version bigint not null,
	cursor_key bytea not null default decode(replace(((gen_random_uuid())::text || (gen_random_uuid())::text), '-'::text, ''::text), 'hex'::text),
	PRIMARY KEY (one),
	CHECK (one)
);

create table admin_session (
	digest bytea not null,
	user_id uuid not null,
	credential bytea not null,
	began_at timestamp with time zone not null,
	seen_at timestamp with time zone not null,
	source text not null,
	provider_session text,
	PRIMARY KEY (digest),
	FOREIGN KEY (user_id) REFERENCES app_user(id)
);

create table alert (
	id uuid not null,
	key text not null,
	name text not null,
	severity text not null,
	summary text not null,
	list text,
	about_site uuid not null,
	node text,
	since timestamp with time zone not null,
	started_at timestamp with time zone not null,
	seen_at timestamp with time zone not null,
	ended_at timestamp with time zone,
	PRIMARY KEY (id)
);

create table allergy_intolerance (
	site_id uuid not null,
	id uuid not null,
	given_id text,
	version integer not null,
	last_updated timestamp with time zone not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	item_key uuid,
	clinical_status text,
	code_system text,
	code_value text,
	code_further text[],
	recorded_start timestamp with time zone,
	recorded_end timestamp with time zone,
	PRIMARY KEY (site_id, id)
) with (fillfactor=90, toast_tuple_target=8160);

create table api_key (
	id text not null,
	site_id uuid not null,
	owner_id uuid not null,
	label text not null default ''::text,
	secret_hash bytea not null,
	created_at timestamp with time zone not null default now(),
	last_used_at timestamp with time zone,
	revoked_at timestamp with time zone,
	settings jsonb not null default '{}'::jsonb,
	expires_at timestamp with time zone,
	scopes text[],
	replaced_by text,
	PRIMARY KEY (id),
	FOREIGN KEY (owner_id) REFERENCES app_user(id),
	FOREIGN KEY (replaced_by) REFERENCES api_key(id),
	FOREIGN KEY (site_id) REFERENCES site(id),
	CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['read'::text, 'write'::text, 'ingest'::text, 'imaging'::text]))),
	CHECK ((jsonb_typeof(settings) = 'object'::text))
);

create table app_user (
	id uuid not null,
	email text not null,
	password_hash text,
	active boolean not null default true,
	created_at timestamp with time zone not null default now(),
	role text not null,
	all_sites boolean not null default false,
	one_time_since timestamp with time zone,
	sign_in text not null default 'local'::text,
	provider_issuer text,
	provider_subject text,
	second_factor bytea,
	second_factor_pending bytea,
	second_factor_step bigint,
	recovery_codes bytea[],
	signed_in_at timestamp with time zone,
	UNIQUE (email),
	PRIMARY KEY (id),
	CHECK (((NOT all_sites) OR (role = 'auditor'::text))),
	CHECK ((role = ANY (ARRAY['auditor'::text, 'manager'::text, 'administrator'::text]))),
	CHECK ((sign_in = ANY (ARRAY['local'::text, 'provider'::text])))
);

create table audit_batch (
	chain_id uuid not null,
	sequence bigint not null,
	id uuid not null,
	recorded_at timestamp with time zone not null,
	events integer not null,
	first_id uuid,
	last_id uuid,
	previous bytea not null,
	digest bytea not null,
	notes text not null default '{}'::text,
	UNIQUE (id),
	PRIMARY KEY (chain_id, sequence),
	CHECK ((events >= 0))
);

create table audit_chain (
	id uuid not null,
	started_at timestamp with time zone not null,
	PRIMARY KEY (id)
);

create table audit_event (
	id uuid not null,
	recorded_at timestamp with time zone not null,
	site_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
	actor text not null,
	action text not null,
	subject text not null,
	source text,
	detail jsonb not null default '{}'::jsonb,
	patients uuid[],
	studies text[],
	batch uuid,
	PRIMARY KEY (site_id, id)
) partition by RANGE (id);

create table audit_forwarded (
	receiver text not null,
	chain_id uuid not null,
	sequence bigint not null,
	PRIMARY KEY (receiver, chain_id)
);

create table audit_forwarder (
	receiver text not null,
	holder uuid not null,
	seen_at timestamp with time zone not null,
	PRIMARY KEY (receiver)
);

create table authority_alias (
	site_id uuid not null,
	system text not null,
	other text not null,
	origin text not null,
	since timestamp with time zone not null,
	by text not null,
	merged jsonb not null default '[]'::jsonb,
	ended_at timestamp with time zone,
	ended_by text,
	PRIMARY KEY (site_id, system, other),
	CHECK ((origin = ANY (ARRAY['learned'::text, 'person'::text])))
);

create table binary_content (
	site_id uuid not null,
	id uuid not null,
	document_id uuid not null,
	content_type text not null,
	last_updated timestamp with time zone not null,
	bytes bytea not null storage e,
	PRIMARY KEY (site_id, id)
);

create table bulk_job (
	site_id uuid not null,
	id uuid not null,
	kind text not null,
	state text not null,
	node_id uuid not null,
	key_id text not null,
	request text not null,
	parameters jsonb not null,
	created_at timestamp with time zone not null default now(),
	seen_at timestamp with time zone not null default now(),
	finished_at timestamp with time zone,
	position bigint not null default 0,
	progress text not null default ''::text,
	result jsonb,
	failure text,
	PRIMARY KEY (site_id, id),
	CHECK ((kind = ANY (ARRAY['export'::text, 'import'::text]))),
	CHECK ((state = ANY (ARRAY['receiving'::text, 'waiting'::text, 'running'::text, 'done'::text, 'failed'::text, 'interrupted'::text])))
);

create table commitment_request (
	site_id uuid not null,
	id uuid not null,
	transaction_uid text not null,
	is_duplicate boolean not null,
	calling_ae text not null,
	called_ae text not null,
	source text not null,
	sop_class_uids text[] not null,
	sop_instance_uids text[] not null,
	received_at timestamp with time zone not null,
	state text not null,
	attempts integer not null default 0,
	due_at timestamp with time zone not null,
	committed integer,
	refused integer,
	failure text,
	settled_at timestamp with time zone,
	PRIMARY KEY (site_id, id),
	CHECK ((state = ANY (ARRAY['waiting'::text, 'reported'::text, 'failed'::text])))
) with (fillfactor=80);

create table committed_batch (
	site_id uuid not null,
	id uuid not null,
	committed_at timestamp with time zone not null,
	PRIMARY KEY (site_id, id)
);

create table condition (
	site_id uuid not null,
	id uuid not null,
	given_id text,
	version integer not null,
	last_updated timestamp with time zone not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	item_key uuid,
	encounter_id uuid,
	clinical_status text,
	code_system text,
	code_value text,
	code_further text[],
	onset_start timestamp with time zone,
	onset_end timestamp with time zone,
	recorded_start timestamp with time zone,
	recorded_end timestamp with time zone,
	PRIMARY KEY (site_id, id)
) with (fillfactor=90, toast_tuple_target=8160);

create table configuration_apply (
	id uuid not null,
	applied_at timestamp with time zone not null,
	actor text not null,
	before text not null,
	changes json not null,
	rolls_back uuid,
	rolled_back_by uuid,
	PRIMARY KEY (id)
);

create table deleted_study (
	site_id uuid not null,
	id uuid not null,
	deleted_at timestamp with time zone not null,
	study_uid text not null,
	version integer not null,
	patient_id uuid,
	reason_code text not null,
	reason text not null,
	deleted_by text not null,
	changed_at timestamp with time zone not null,
	series_count integer not null,
	instance_count integer not null,
	bytes bigint not null,
	instances jsonb not null,
	object_keys text[],
	PRIMARY KEY (site_id, id, deleted_at)
);

create table diagnostic_report (
	site_id uuid not null,
	id uuid not null,
	given_id text,
	version integer not null,
	last_updated timestamp with time zone not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	item_key uuid,
	encounter_id uuid,
	status text,
	code_system text,
	code_value text,
	code_further text[],
	effective_start timestamp with time zone,
	effective_end timestamp with time zone,
	issued_start timestamp with time zone,
	issued_end timestamp with time zone,
	order_key uuid,
	study_uid text,
	accession_number text,
	filler_number text,
	sent_at text,
	origin text,
	PRIMARY KEY (site_id, id)
) with (fillfactor=90, toast_tuple_target=8160);

create table document_entry (
	site_id uuid not null,
	document_id uuid not null,
	resource_type text not null,
	item_key uuid not null,
	patient_id uuid not null,
	resource_id uuid not null,
	stated_at text not null,
	is_current boolean not null,
	PRIMARY KEY (site_id, document_id, resource_type, item_key)
);

create table document_reference (
	site_id uuid not null,
	id uuid not null,
	given_id text,
	version integer not null,
	last_updated timestamp with time zone not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	item_key uuid,
	status text,
	code_system text,
	code_value text,
	code_further text[],
	date_start timestamp with time zone,
	date_end timestamp with time zone,
	document_key uuid,
	set_key uuid,
	set_version text,
	stated_at text,
	replaces_key uuid,
	PRIMARY KEY (site_id, id)
) with (fillfactor=90, toast_tuple_target=8160);

create table edited_message (
	site_id uuid not null,
	message_id uuid not null,
	original_id uuid not null,
	actor text not null,
	edited_at timestamp with time zone not null default now(),
	PRIMARY KEY (site_id, message_id)
);

create table encounter (
	site_id uuid not null,
	id uuid not null,
	version integer not null,
	last_updated timestamp with time zone not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	visit_key uuid,
	status text not null,
	class text,
	period_start timestamp with time zone,
	period_end timestamp with time zone,
	given_id text,
	is_numbered boolean,
	PRIMARY KEY (site_id, id)
) with (fillfactor=80, toast_tuple_target=8160);

create table feed_hour (
	site_id uuid not null,
	feed text not null,
	hour timestamp with time zone not null,
	received integer not null,
	refused integer not null,
	last_at timestamp with time zone not null,
	received_by_minute integer[] not null,
	refused_by_minute integer[] not null,
	acknowledged integer[] not null,
	PRIMARY KEY (site_id, feed, hour)
);

create table feed_queue (
	site_id uuid not null,
	feed text not null,
	process uuid not null,
	waiting integer not null,
	at timestamp with time zone not null,
	PRIMARY KEY (site_id, feed, process)
);

create table identity_dismissal (
	site_id uuid not null,
	first_id uuid not null,
	second_id uuid not null,
	dismissed_at timestamp with time zone not null,
	dismissed_by text not null,
	PRIMARY KEY (site_id, first_id, second_id)
);

create table identity_doubt (
	site_id uuid not null,
	id uuid not null,
	kind text not null,
	key uuid not null,
	patient_id uuid,
	other_patient_id uuid,
	study_uid text,
	text text not null,
	count integer not null default 1,
	first_message_id uuid not null,
	first_surface text not null,
	first_at timestamp with time zone not null,
	last_message_id uuid not null,
	last_surface text not null,
	last_at timestamp with time zone not null,
	settled_at timestamp with time zone,
	settled_by text,
	settled_how text,
	PRIMARY KEY (site_id, id)
);

create table imaging_conflict (
	site_id uuid not null,
	id uuid not null,
	sop_instance_uid text not null,
	study_uid text not null,
	digest text not null,
	bytes bigint not null,
	object_key text not null,
	calling_ae text not null,
	source text not null,
	received_at timestamp with time zone not null,
	settled_at timestamp with time zone,
	settlement text,
	settled_by text,
	kind text,
	stated_patient_id text,
	stated_patient_system text,
	stated_patient_name text,
	PRIMARY KEY (site_id, id),
	CHECK ((settlement = ANY (ARRAY['stored'::text, 'received'::text, 'replaced'::text, 'superseded'::text])))
);

create table imaging_instance (
	site_id uuid not null,
	sop_instance_uid text not null,
	study_uid text not null,
	series_uid text not null,
	sop_class_uid text not null,
	transfer_syntax_uid text not null,
	number integer,
	image_rows integer,
	image_columns integer,
	frames integer,
	digest text not null,
	bytes bigint not null,
	object_key text not null,
	calling_ae text not null,
	source text not null,
	stored_at timestamp with time zone not null,
	stated_study_uid text,
	PRIMARY KEY (site_id, sop_instance_uid)
);

create table imaging_series (
	site_id uuid not null,
	series_uid text not null,
	study_uid text not null,
	modality text,
	number integer,
	description text,
	body_part text,
	station text,
	started text,
	instance_count integer not null,
	started_offset text,
	PRIMARY KEY (site_id, study_uid, series_uid)
) with (fillfactor=80);

create table imaging_study (
	site_id uuid not null,
	study_uid text not null,
	id uuid not null,
	patient_id uuid,
	recorded_patient_id uuid,
	started text,
	accession_number text,
	accession_issuer text,
	study_id text,
	description text,
	referring_physician text,
	modalities text[] not null,
	series_count integer not null,
	instance_count integer not null,
	bytes bigint not null,
	created_at timestamp with time zone not null,
	updated_at timestamp with time zone not null,
	version integer not null default 1,
	sop_classes text[] not null default '{}'::text[],
	started_start timestamp with time zone default tributary_moment(started),
	started_end timestamp with time zone default tributary_moment_end(started),
	accession_system text default tributary_authority(accession_issuer),
	stated_patient_id text,
	stated_patient_system text,
	stated_patient_name text,
	former_patient_ids uuid[],
	split_from text,
	started_offset text,
	started_zone text,
	started_from timestamp with time zone default tributary_instant(tributary_moment(tributary_sure(started, started_offset)), started_offset),
	started_until timestamp with time zone default tributary_instant(tributary_moment_end(tributary_sure(started, started_offset)), started_offset),
	name_ideographic text,
	name_phonetic text,
	assumed_zone text,
	stated_patient_birth_date date,
	stated_patient_gender text,
	PRIMARY KEY (site_id, study_uid)
) with (fillfactor=80);

create table integration_client (
	site_id uuid not null,
	id uuid not null,
	name text not null,
	protocols text[] not null,
	allowed_ips text[] not null,
	sending_application text,
	sending_facility text,
	calling_ae text,
	ack_mode text not null default 'original'::text,
	also_events text[] not null default '{}'::text[],
	ignore_events text[] not null default '{}'::text[],
	grants text[] not null default '{}'::text[],
	active boolean not null default true,
	created_at timestamp with time zone not null default now(),
	settings jsonb not null default '{}'::jsonb,
	UNIQUE (site_id, name),
	PRIMARY KEY (site_id, id),
	FOREIGN KEY (site_id) REFERENCES site(id),
	CHECK ((ack_mode = ANY (ARRAY['original'::text, 'enhanced'::text]))),
	CHECK ((jsonb_typeof(settings) = 'object'::text))
);

create table legal_hold (
	site_id uuid not null,
	id uuid not null,
	patient_id uuid,
	study_uid text,
	reason text not null,
	placed_at timestamp with time zone not null,
	placed_by text not null,
	lifted_at timestamp with time zone,
	lifted_by text,
	PRIMARY KEY (site_id, id),
	CHECK (((length(reason) >= 1) AND (length(reason) <= 500))),
	CHECK (((patient_id IS NULL) <> (study_uid IS NULL)))
);

create table long_search (
	site_id uuid not null,
	id uuid not null,
	type text not null,
	parameters text not null,
	expires_at timestamp with time zone not null,
	PRIMARY KEY (site_id, id)
);

create table message_log (
	site_id uuid not null,
	id uuid not null,
	sequence bigint not null,
	surface text not null,
	client_id uuid not null,
	source text not null,
	received_at timestamp with time zone not null,
	committed_at timestamp with time zone not null,
	message_type text not null,
	control_id text not null,
	outcome text not null,
	failure_code text,
	failure text,
	flags jsonb,
	changed jsonb,
	replay_of uuid,
	bytes bytea not null storage e,
	ack bytea not null,
	patient text,
	other_patient text,
	kind text,
	settings jsonb,
	PRIMARY KEY (site_id, id),
	CHECK ((outcome = ANY (ARRAY['accepted'::text, 'refused'::text, 'ignored'::text, 'duplicate'::text])))
) partition by RANGE (id);

create table mpps_event (
	site_id uuid not null,
	session_id uuid not null,
	number integer not null,
	message_id uuid not null,
	recorded_at timestamp with time zone not null,
	source text not null,
	status text not null,
	attributes text not null,
	PRIMARY KEY (site_id, session_id, number)
);

create table mpps_session (
	site_id uuid not null,
	id uuid not null,
	sop_instance_uid text not null,
	study_uid text not null,
	status text not null,
	late boolean not null,
	attributes text not null,
	patient_id text,
	patient_issuer text,
	patient_name text,
	accession_number text,
	modality text,
	station_ae text,
	station_name text,
	step_id text,
	started text,
	ended text,
	series_uids text[] not null,
	reports integer not null,
	last_digest text not null,
	last_message_id uuid not null,
	created_at timestamp with time zone not null,
	updated_at timestamp with time zone not null,
	other_study_uids text[],
	UNIQUE (site_id, sop_instance_uid),
	PRIMARY KEY (site_id, id),
	CHECK ((status = ANY (ARRAY['IN PROGRESS'::text, 'COMPLETED'::text, 'DISCONTINUED'::text])))
) with (fillfactor=80);

create table notification (
	id uuid not null,
	user_id uuid,
	of_site uuid,
	by text not null,
	target text not null,
	secret bytea,
	alerts text[] not null,
	severities text[] not null,
	sites uuid[] not null,
	active boolean not null,
	created_at timestamp with time zone not null,
	PRIMARY KEY (id),
	FOREIGN KEY (of_site) REFERENCES site(id),
	FOREIGN KEY (user_id) REFERENCES app_user(id) ON DELETE CASCADE,
	CHECK (((by = 'webhook'::text) = (secret IS NOT NULL))),
	CHECK (((user_id IS NULL) OR (of_site IS NULL))),
	CHECK ((by = ANY (ARRAY['email'::text, 'webhook'::text])))
);

create table notification_delivery (
	id uuid not null,
	notification_id uuid not null,
	alert_id uuid not null,
	phase text not null,
	state text not null default 'waiting'::text,
	attempts integer not null default 0,
	next_at timestamp with time zone not null,
	holder uuid,
	held_until timestamp with time zone,
	fault text,
	created_at timestamp with time zone not null,
	done_at timestamp with time zone,
	UNIQUE (alert_id, notification_id, phase),
	PRIMARY KEY (id),
	FOREIGN KEY (alert_id) REFERENCES alert(id) ON DELETE CASCADE,
	FOREIGN KEY (notification_id) REFERENCES notification(id) ON DELETE CASCADE,
	CHECK ((phase = ANY (ARRAY['start'::text, 'end'::text]))),
	CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'failed'::text])))
);

create table observation (
	site_id uuid not null,
	id uuid not null,
	version integer not null,
	last_updated timestamp with time zone not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	encounter_id uuid,
	order_key uuid,
	item_key uuid,
	status text not null,
	code_system text,
	code_value text,
	code_further text[],
	effective_start timestamp with time zone,
	effective_end timestamp with time zone,
	given_id text,
	sent_at text,
	PRIMARY KEY (site_id, id)
) with (fillfactor=90, toast_tuple_target=8160);

create table other_resource (
	site_id uuid not null,
	resource_type text not null,
	id uuid not null,
	given_id text,
	version integer not null,
	last_updated timestamp with time zone not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	terms bigint[],
	strings text,
	date1_start timestamp with time zone,
	date1_end timestamp with time zone,
	date2_start timestamp with time zone,
	date2_end timestamp with time zone,
	date3_start timestamp with time zone,
	date3_end timestamp with time zone,
	date_values text,
	deleted boolean not null default false,
	origin text,
	PRIMARY KEY (site_id, resource_type, id)
) with (fillfactor=90, toast_tuple_target=8160);

create table patient (
	site_id uuid not null,
	id uuid not null,
	version integer not null,
	last_updated timestamp with time zone not null,
	source text,
	meta text,
	resource text not null,
	active boolean not null default true,
	name text not null default ''::text,
	birth_date date,
	birth_date_end date,
	gender text,
	merged_into uuid,
	given_id text,
	PRIMARY KEY (site_id, id)
) with (fillfactor=80, toast_tuple_target=8160);

create table patient_identifier (
	site_id uuid not null,
	value text not null,
	system text not null,
	patient_id uuid not null,
	old boolean not null,
	rank smallint not null,
	PRIMARY KEY (site_id, value, system, patient_id)
);

create table procedure (
	site_id uuid not null,
	id uuid not null,
	given_id text,
	version integer not null,
	last_updated timestamp with time zone not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	item_key uuid,
	encounter_id uuid,
	status text,
	code_system text,
	code_value text,
	code_further text[],
	performed_start timestamp with time zone,
	performed_end timestamp with time zone,
	PRIMARY KEY (site_id, id)
) with (fillfactor=90, toast_tuple_target=8160);

create table rederived_resource (
	site_id uuid not null,
	run_id uuid not null,
	resource_type text not null,
	id uuid not null,
	is_changed boolean not null,
	PRIMARY KEY (site_id, run_id, resource_type, id)
);

create table remote_ae (
	site_id uuid not null,
	id uuid not null,
	title text not null,
	host text not null,
	port integer not null,
	tls boolean not null,
	created_at timestamp with time zone not null default now(),
	UNIQUE (site_id, title),
	PRIMARY KEY (site_id, id),
	FOREIGN KEY (site_id) REFERENCES site(id),
	CHECK (((port >= 1) AND (port <= 65535)))
);

create table replay_run (
	site_id uuid not null,
	id uuid not null,
	actor text not null,
	cause jsonb,
	message_ids uuid[] not null,
	state text not null,
	done integer not null default 0,
	accepted integer not null default 0,
	refused integer not null default 0,
	other integer not null default 0,
	skipped integer not null default 0,
	failure text,
	started_at timestamp with time zone not null default now(),
	seen_at timestamp with time zone not null default now(),
	finished_at timestamp with time zone,
	kind text not null default 'replay'::text,
	task jsonb,
	progress jsonb,
	ignored integer not null default 0,
	known integer not null default 0,
	dismissed_at timestamp with time zone,
	attempt integer not null default 1,
	PRIMARY KEY (site_id, id),
	CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'cancelled'::text, 'failed'::text, 'interrupted'::text])))
);

create table resource_history (
	site_id uuid not null,
	resource_type text not null,
	id uuid not null,
	version integer not null,
	last_updated timestamp with time zone not null,
	source text,
	meta text,
	resource text not null,
	given_id text,
	PRIMARY KEY (site_id, resource_type, id, version, last_updated)
) partition by RANGE (last_updated);

create table retention_run (
	id uuid not null,
	asked_by text not null,
	state text not null,
	started_at timestamp with time zone not null default now(),
	seen_at timestamp with time zone not null default now(),
	finished_at timestamp with time zone,
	removed jsonb not null default '[]'::jsonb,
	failure text,
	PRIMARY KEY (id),
	CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'failed'::text, 'interrupted'::text])))
);

create table saved_filter (
	id uuid not null,
	owner text not null,
	screen text not null,
	name text not null,
	query text not null,
	created_at timestamp with time zone not null,
	PRIMARY KEY (id),
	CHECK ((length(name) <= 60)),
	CHECK ((length(owner) <= 320)),
	CHECK ((length(query) <= 2000)),
	CHECK ((length(screen) <= 64))
);

create table search_entry (
	site_id uuid not null,
	resource_type text not null,
	id uuid not null,
	terms bigint[] not null,
	PRIMARY KEY (site_id, resource_type, id)
);

create table search_progress (
	site_id uuid not null,
	resource_type text not null,
	until timestamp with time zone not null default '-infinity'::timestamp with time zone,
	until_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
	definition text not null,
	PRIMARY KEY (site_id, resource_type)
);

create table set_aside_message (
	site_id uuid not null,
	message_id uuid not null,
	reason text not null,
	actor text not null,
	set_aside_at timestamp with time zone not null default now(),
	PRIMARY KEY (site_id, message_id),
	CHECK (((length(reason) >= 1) AND (length(reason) <= 500)))
);

create table sign_in_failure (
	kind text not null,
	bucket integer not null,
	failures integer not null,
	failed_at timestamp with time zone not null,
	locked_until timestamp with time zone not null,
	PRIMARY KEY (kind, bucket),
	CHECK (((bucket >= 0) AND (bucket <= 65535))),
	CHECK ((kind = ANY (ARRAY['account'::text, 'address'::text, 'browser'::text, 'change'::text])))
);

create table sign_in_group (
	id uuid not null,
	name text not null,
	role text not null,
	all_sites boolean not null default false,
	created_at timestamp with time zone not null default now(),
	UNIQUE (name),
	PRIMARY KEY (id),
	CHECK (((NOT all_sites) OR (role = 'auditor'::text))),
	CHECK ((role = ANY (ARRAY['auditor'::text, 'manager'::text, 'administrator'::text])))
);

create table sign_in_group_site (
	group_id uuid not null,
	site_id uuid not null,
	PRIMARY KEY (group_id, site_id),
	FOREIGN KEY (group_id) REFERENCES sign_in_group(id) ON DELETE CASCADE,
	FOREIGN KEY (site_id) REFERENCES site(id)
);

create table sign_in_policy (
	network boolean not null default true,
	second_factor_roles text[] not null default '{}'::text[],
	PRIMARY KEY (network),
	CHECK ((second_factor_roles <@ ARRAY['auditor'::text, 'manager'::text, 'administrator'::text])),
	CHECK (network)
);

create table site (
	id uuid not null,
	slug text not null,
	name text not null,
	ae_title text,
	default_authority text,
	active boolean not null default true,
	created_at timestamp with time zone not null default now(),
	update_creates boolean not null default true,
	check_references boolean not null default true,
	instance_policy text not null default 'keep'::text,
	waiting_max integer,
	associations_max integer,
	settings jsonb not null default '{}'::jsonb,
	definitions_version bigint not null default 0,
	move_state text,
	move_peer text,
	moved_at timestamp with time zone,
	closed_until timestamp with time zone,
	UNIQUE (ae_title),
	UNIQUE (slug),
	PRIMARY KEY (id),
	CHECK ((associations_max > 0)),
	CHECK ((instance_policy = ANY (ARRAY['keep'::text, 'replace'::text, 'refuse'::text]))),
	CHECK ((jsonb_typeof(settings) = 'object'::text)),
	CHECK ((move_state = ANY (ARRAY['leaving'::text, 'left'::text, 'arriving'::text]))),
	CHECK ((waiting_max > 0))
);

create table site_definition (
	site_id uuid not null,
	id uuid not null,
	kind text not null,
	url text not null,
	version text not null,
	name text not null,
	type text not null,
	package text not null,
	content text not null,
	created_at timestamp with time zone not null,
	UNIQUE (site_id, kind, url, version),
	PRIMARY KEY (site_id, id),
	FOREIGN KEY (site_id) REFERENCES site(id),
	CHECK ((kind = ANY (ARRAY['StructureDefinition'::text, 'ValueSet'::text, 'CodeSystem'::text])))
);

create table site_member (
	site_id uuid not null,
	user_id uuid not null,
	PRIMARY KEY (site_id, user_id),
	FOREIGN KEY (site_id) REFERENCES site(id),
	FOREIGN KEY (user_id) REFERENCES app_user(id)
);

create table site_turn (
	site_id uuid not null,
	sequence bigint not null default 0,
	authority_version bigint not null default 0,
	closed_until timestamp with time zone,
	PRIMARY KEY (site_id)
) with (fillfactor=50);

create table study_edit (
	site_id uuid not null,
	id uuid not null,
	operation text not null,
	study_uid text not null,
	other_study_uid text,
	from_patient_id uuid,
	to_patient_id uuid,
	sop_instance_uids text[],
	edited_at timestamp with time zone not null,
	edited_by text not null,
	undone_at timestamp with time zone,
	undone_by text,
	study jsonb,
	PRIMARY KEY (site_id, id)
);

create table token_issuer (
	site_id uuid not null,
	id uuid not null,
	label text not null,
	owner_id uuid not null,
	issuer text not null,
	audience text not null,
	clients text[] not null,
	jwks_url text,
	token_endpoint text,
	client_claim text,
	scope_claim text,
	site_claim text,
	site_value text,
	introspection_url text,
	introspection_client text,
	introspection_secret text,
	active boolean not null default true,
	created_at timestamp with time zone not null default now(),
	PRIMARY KEY (site_id, id),
	FOREIGN KEY (owner_id) REFERENCES app_user(id),
	FOREIGN KEY (site_id) REFERENCES site(id),
	CHECK ((((introspection_url IS NULL) = (introspection_client IS NULL)) AND ((introspection_url IS NULL) = (introspection_secret IS NULL)))),
	CHECK (((site_claim IS NULL) = (site_value IS NULL))),
	CHECK ((cardinality(clients) > 0))
);

create table unmatched_message (
	id uuid not null,
	received_at timestamp with time zone not null,
	surface text not null,
	source text not null,
	reason text not null,
	message_type text not null,
	control_id text not null,
	bytes bytea not null,
	site_id uuid,
	sending_application text,
	sending_facility text,
	called_ae text,
	calling_ae text,
	replayed_at timestamp with time zone,
	replayed_as uuid,
	PRIMARY KEY (id)
);

create table viewer_token (
	digest bytea not null,
	site_id uuid not null,
	study_uid text not null,
	actor text not null,
	expires_at timestamp with time zone not null,
	PRIMARY KEY (digest),
	FOREIGN KEY (site_id) REFERENCES site(id)
);

create table written_imaging_study (
	site_id uuid not null,
	id uuid not null,
	given_id text,
	version integer not null,
	last_updated timestamp with time zone not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	origin text,
	study_uid text,
	accession_number text,
	accession_system text,
	status text,
	modalities text[],
	sop_classes text[],
	series_uids text[],
	instance_uids text[],
	identifiers text[],
	started_start timestamp with time zone,
	started_end timestamp with time zone,
	PRIMARY KEY (site_id, id)
) with (fillfactor=90, toast_tuple_target=8160);

CREATE INDEX accepted_message_time ON public.accepted_message USING brin (accepted_at);

CREATE INDEX admin_session_user ON public.admin_session USING btree (user_id);

CREATE INDEX alert_recent ON public.alert USING btree (started_at DESC, id);

CREATE INDEX allergy_intolerance_changes ON public.allergy_intolerance USING btree (site_id, last_updated, id);

CREATE INDEX allergy_intolerance_clinical_status ON public.allergy_intolerance USING btree (site_id, clinical_status, id);

CREATE INDEX allergy_intolerance_code ON public.allergy_intolerance USING btree (site_id, code_value, id);

CREATE INDEX allergy_intolerance_code_further ON public.allergy_intolerance USING gin (site_id, code_further) WITH (gin_pending_list_limit='512') WHERE (array_length(code_further, 1) > 3);

CREATE INDEX allergy_intolerance_code_second ON public.allergy_intolerance USING btree (site_id, (code_further[3]), id) WHERE (code_further IS NOT NULL);

CREATE INDEX allergy_intolerance_item ON public.allergy_intolerance USING btree (site_id, patient_id, item_key) WHERE (item_key IS NOT NULL);

CREATE INDEX allergy_intolerance_meta ON public.allergy_intolerance USING btree (site_id, id) WHERE (meta IS NOT NULL);

CREATE INDEX allergy_intolerance_patient ON public.allergy_intolerance USING btree (site_id, patient_id, id);

CREATE INDEX api_key_site ON public.api_key USING btree (site_id);

CREATE INDEX audit_event_actor ON ONLY public.audit_event USING btree (site_id, actor, id);

CREATE INDEX audit_event_all ON ONLY public.audit_event USING btree (id);

CREATE INDEX audit_event_association ON ONLY public.audit_event USING btree (site_id, id) WHERE (action = 'dicom.association'::text);

CREATE INDEX audit_event_changes ON ONLY public.audit_event USING btree (site_id, id) WHERE (action !~ '^(callers|dicom|dicomweb|dimse|fhir|mllp|token)\.|^bulk\.(export|import)$|\.(download|echo|match|picture|read|retrieve|search|send|sign-in|sign-out|test|view|viewer|[a-z-]*(failed|preview|refused))$'::text);

CREATE INDEX audit_event_patients ON ONLY public.audit_event USING gin (patients) WITH (gin_pending_list_limit='64') WHERE (patients IS NOT NULL);

CREATE INDEX audit_event_unlinked ON ONLY public.audit_event USING btree (id) WHERE (batch IS NULL);

CREATE INDEX authority_alias_other ON public.authority_alias USING btree (site_id, other);

CREATE INDEX commitment_request_due ON public.commitment_request USING btree (due_at) WHERE (state = 'waiting'::text);

CREATE INDEX commitment_request_settled ON public.commitment_request USING btree (settled_at) WHERE (state <> 'waiting'::text);

CREATE INDEX commitment_request_transaction ON public.commitment_request USING btree (site_id, calling_ae, transaction_uid);

CREATE INDEX committed_batch_age ON public.committed_batch USING brin (committed_at);

CREATE INDEX condition_changes ON public.condition USING btree (site_id, last_updated, id);

CREATE INDEX condition_clinical_status ON public.condition USING btree (site_id, clinical_status, id);

CREATE INDEX condition_code ON public.condition USING btree (site_id, code_value, id);

CREATE INDEX condition_code_further ON public.condition USING gin (site_id, code_further) WITH (gin_pending_list_limit='512') WHERE (array_length(code_further, 1) > 3);

CREATE INDEX condition_code_second ON public.condition USING btree (site_id, (code_further[3]), id) WHERE (code_further IS NOT NULL);

CREATE INDEX condition_item ON public.condition USING btree (site_id, patient_id, item_key) WHERE (item_key IS NOT NULL);

CREATE INDEX condition_meta ON public.condition USING btree (site_id, id) WHERE (meta IS NOT NULL);

CREATE INDEX condition_patient ON public.condition USING btree (site_id, patient_id, id);

CREATE INDEX deleted_study_objects ON public.deleted_study USING btree (site_id) WHERE (object_keys IS NOT NULL);

CREATE INDEX deleted_study_uid ON public.deleted_study USING btree (site_id, study_uid);

CREATE INDEX diagnostic_report_accession ON public.diagnostic_report USING btree (site_id, accession_number) WHERE (accession_number IS NOT NULL);

CREATE INDEX diagnostic_report_changes ON public.diagnostic_report USING btree (site_id, last_updated, id);

CREATE INDEX diagnostic_report_code ON public.diagnostic_report USING btree (site_id, code_value, id);

CREATE INDEX diagnostic_report_code_further ON public.diagnostic_report USING gin (site_id, code_further) WITH (gin_pending_list_limit='512') WHERE (array_length(code_further, 1) > 3);

CREATE INDEX diagnostic_report_code_second ON public.diagnostic_report USING btree (site_id, (code_further[3]), id) WHERE (code_further IS NOT NULL);

CREATE INDEX diagnostic_report_filler ON public.diagnostic_report USING btree (site_id, filler_number) WHERE (filler_number IS NOT NULL);

CREATE INDEX diagnostic_report_item ON public.diagnostic_report USING btree (site_id, patient_id, item_key) WHERE (item_key IS NOT NULL);

CREATE INDEX diagnostic_report_meta ON public.diagnostic_report USING btree (site_id, id) WHERE (meta IS NOT NULL);

CREATE INDEX diagnostic_report_order ON public.diagnostic_report USING btree (site_id, order_key) WHERE (order_key IS NOT NULL);

CREATE INDEX diagnostic_report_patient ON public.diagnostic_report USING btree (site_id, patient_id, id);

CREATE INDEX diagnostic_report_status ON public.diagnostic_report USING btree (site_id, status, id);

CREATE INDEX diagnostic_report_study ON public.diagnostic_report USING btree (site_id, study_uid) WHERE (study_uid IS NOT NULL);

CREATE INDEX document_entry_item ON public.document_entry USING btree (site_id, patient_id, item_key, resource_type);

CREATE INDEX document_reference_changes ON public.document_reference USING btree (site_id, last_updated, id);

CREATE INDEX document_reference_code ON public.document_reference USING btree (site_id, code_value, id);

CREATE INDEX document_reference_code_further ON public.document_reference USING gin (site_id, code_further) WITH (gin_pending_list_limit='512') WHERE (array_length(code_further, 1) > 3);

CREATE INDEX document_reference_code_second ON public.document_reference USING btree (site_id, (code_further[3]), id) WHERE (code_further IS NOT NULL);

CREATE INDEX document_reference_document ON public.document_reference USING btree (site_id, document_key, patient_id) WHERE (document_key IS NOT NULL);

CREATE INDEX document_reference_item ON public.document_reference USING btree (site_id, patient_id, item_key) WHERE (item_key IS NOT NULL);

CREATE INDEX document_reference_meta ON public.document_reference USING btree (site_id, id) WHERE (meta IS NOT NULL);

CREATE INDEX document_reference_patient ON public.document_reference USING btree (site_id, patient_id, id);

CREATE INDEX document_reference_replaces ON public.document_reference USING btree (site_id, replaces_key, patient_id) WHERE (replaces_key IS NOT NULL);

CREATE INDEX document_reference_set ON public.document_reference USING btree (site_id, set_key, patient_id) WHERE (set_key IS NOT NULL);

CREATE INDEX encounter_changes ON public.encounter USING btree (site_id, last_updated, id);

CREATE INDEX encounter_meta ON public.encounter USING btree (site_id, id) WHERE (meta IS NOT NULL);

CREATE INDEX encounter_open ON public.encounter USING btree (site_id, patient_id) WHERE (status <> ALL (ARRAY['finished'::text, 'cancelled'::text, 'entered-in-error'::text]));

CREATE INDEX encounter_patient ON public.encounter USING btree (site_id, patient_id, id);

CREATE INDEX encounter_status ON public.encounter USING btree (site_id, status, id);

CREATE INDEX encounter_unnumbered ON public.encounter USING btree (site_id, patient_id) WHERE ((status <> ALL (ARRAY['finished'::text, 'cancelled'::text, 'entered-in-error'::text])) AND (given_id IS NULL) AND (is_numbered IS NOT TRUE));

CREATE INDEX encounter_visit ON public.encounter USING btree (site_id, visit_key);

CREATE INDEX feed_hour_by_hour ON public.feed_hour USING btree (site_id, hour);

CREATE INDEX identity_doubt_open ON public.identity_doubt USING btree (site_id, id) WHERE (settled_at IS NULL);

CREATE INDEX identity_doubt_study ON public.identity_doubt USING btree (site_id, study_uid) WHERE ((settled_at IS NULL) AND (study_uid IS NOT NULL));

CREATE INDEX imaging_conflict_instance ON public.imaging_conflict USING btree (site_id, sop_instance_uid, digest);

CREATE INDEX imaging_conflict_open ON public.imaging_conflict USING btree (site_id, id) WHERE (settled_at IS NULL);

CREATE INDEX imaging_instance_series ON public.imaging_instance USING btree (site_id, study_uid, series_uid);

CREATE INDEX imaging_series_uid ON public.imaging_series USING btree (site_id, series_uid);

CREATE INDEX imaging_study_accession ON public.imaging_study USING btree (site_id, accession_number) WHERE (accession_number IS NOT NULL);

CREATE INDEX imaging_study_changes ON public.imaging_study USING brin (site_id, updated_at) WITH (pages_per_range='16', autosummarize='on');

CREATE INDEX imaging_study_classes ON public.imaging_study USING gin (site_id, modalities, sop_classes) WITH (gin_pending_list_limit='512');

CREATE INDEX imaging_study_patient ON public.imaging_study USING btree (site_id, patient_id, study_uid);

CREATE INDEX imaging_study_started ON public.imaging_study USING btree (site_id, started_start, id);

CREATE INDEX imaging_study_started_from ON public.imaging_study USING btree (site_id, started_from, id);

CREATE INDEX imaging_study_unmatched ON public.imaging_study USING btree (site_id, stated_patient_id) WHERE ((patient_id IS NULL) AND (stated_patient_id IS NOT NULL));

CREATE INDEX legal_hold_in_force ON public.legal_hold USING btree (site_id) WHERE (lifted_at IS NULL);

CREATE INDEX long_search_expires_at ON public.long_search USING btree (site_id, expires_at);

CREATE INDEX message_log_client ON ONLY public.message_log USING btree (site_id, client_id, id) WHERE (client_id <> '00000000-0000-0000-0000-000000000000'::uuid);

CREATE INDEX message_log_control ON ONLY public.message_log USING btree (site_id, control_id, id) WHERE (control_id <> ''::text);

CREATE INDEX message_log_other_patient ON ONLY public.message_log USING btree (site_id, other_patient, id) WHERE (other_patient IS NOT NULL);

CREATE INDEX message_log_outcome ON ONLY public.message_log USING btree (site_id, outcome, id) WHERE (outcome <> 'accepted'::text);

CREATE INDEX message_log_overlay ON ONLY public.message_log USING btree (site_id, id) WHERE (flags @> '[{"code": "possible-overlay"}]'::jsonb);

CREATE INDEX message_log_patient ON ONLY public.message_log USING btree (site_id, patient, id) WHERE (patient IS NOT NULL);

CREATE INDEX message_log_replay ON ONLY public.message_log USING btree (site_id, replay_of) WHERE (replay_of IS NOT NULL);

CREATE INDEX message_log_surface ON ONLY public.message_log USING btree (site_id, surface, id) WHERE (surface <> 'mllp'::text);

CREATE INDEX message_log_type ON ONLY public.message_log USING btree (site_id, message_type, id);

CREATE INDEX mpps_session_accession ON public.mpps_session USING btree (site_id, accession_number, id) WHERE (accession_number IS NOT NULL);

CREATE INDEX mpps_session_other_studies ON public.mpps_session USING btree (site_id, id) WHERE (other_study_uids IS NOT NULL);

CREATE INDEX mpps_session_patient ON public.mpps_session USING btree (site_id, patient_id, id) WHERE (patient_id IS NOT NULL);

CREATE INDEX mpps_session_status ON public.mpps_session USING btree (site_id, status, id);

CREATE INDEX mpps_session_study ON public.mpps_session USING btree (site_id, study_uid, id);

CREATE INDEX notification_delivery_due ON public.notification_delivery USING btree (next_at) WHERE (state = 'waiting'::text);

CREATE INDEX notification_delivery_of ON public.notification_delivery USING btree (notification_id, created_at DESC);

CREATE INDEX notification_of_site ON public.notification USING btree (of_site);

CREATE INDEX notification_of_user ON public.notification USING btree (user_id);

CREATE INDEX observation_changes ON public.observation USING btree (site_id, last_updated, id);

CREATE INDEX observation_code ON public.observation USING btree (site_id, code_value, id);

CREATE INDEX observation_code_further ON public.observation USING gin (site_id, code_further) WITH (gin_pending_list_limit='512') WHERE (array_length(code_further, 1) > 3);

CREATE INDEX observation_code_second ON public.observation USING btree (site_id, (code_further[3]), id) WHERE (code_further IS NOT NULL);

CREATE INDEX observation_meta ON public.observation USING btree (site_id, id) WHERE (meta IS NOT NULL);

CREATE INDEX observation_patient ON public.observation USING btree (site_id, patient_id, id);

CREATE INDEX other_resource_changes ON public.other_resource USING btree (site_id, resource_type, last_updated, id) WHERE (NOT deleted);

CREATE INDEX other_resource_date_values ON public.other_resource USING btree (site_id, resource_type) WHERE (date_values IS NOT NULL);

CREATE INDEX other_resource_date1 ON public.other_resource USING btree (site_id, resource_type, date1_start, id) WHERE (date1_start IS NOT NULL);

CREATE INDEX other_resource_date2 ON public.other_resource USING btree (site_id, resource_type, date2_start, id) WHERE (date2_start IS NOT NULL);

CREATE INDEX other_resource_date3 ON public.other_resource USING btree (site_id, resource_type, date3_start, id) WHERE (date3_start IS NOT NULL);

CREATE INDEX other_resource_deletions ON public.other_resource USING btree (site_id, resource_type, last_updated, id) WHERE deleted;

CREATE INDEX other_resource_grams ON public.other_resource USING gin (tributary_grams(site_id, strings) COLLATE "C") WITH (gin_pending_list_limit='512');

CREATE INDEX other_resource_named ON public.other_resource USING gin (site_id, terms) WITH (fastupdate=off) WHERE ((resource_type = ANY (ARRAY['Practitioner'::text, 'Organization'::text, 'Location'::text])) AND (NOT deleted));

CREATE INDEX other_resource_patient ON public.other_resource USING btree (site_id, patient_id, resource_type, id) WHERE (patient_id IS NOT NULL);

CREATE INDEX other_resource_terms ON public.other_resource USING gin (site_id, terms) WITH (gin_pending_list_limit='512');

CREATE INDEX patient_birth_date ON public.patient USING btree (site_id, birth_date, id);

CREATE INDEX patient_changes ON public.patient USING btree (site_id, last_updated, id);

CREATE INDEX patient_gender ON public.patient USING btree (site_id, gender, id);

CREATE INDEX patient_grams ON public.patient USING gin (tributary_grams(site_id, name) COLLATE "C") WITH (gin_pending_list_limit='512');

CREATE INDEX patient_identifier_patient ON public.patient_identifier USING btree (site_id, patient_id);

CREATE INDEX patient_merged ON public.patient USING btree (site_id, merged_into) WHERE (merged_into IS NOT NULL);

CREATE INDEX patient_meta ON public.patient USING btree (site_id, id) WHERE (meta IS NOT NULL);

CREATE INDEX procedure_changes ON public.procedure USING btree (site_id, last_updated, id);

CREATE INDEX procedure_code ON public.procedure USING btree (site_id, code_value, id);

CREATE INDEX procedure_code_further ON public.procedure USING gin (site_id, code_further) WITH (gin_pending_list_limit='512') WHERE (array_length(code_further, 1) > 3);

CREATE INDEX procedure_code_second ON public.procedure USING btree (site_id, (code_further[3]), id) WHERE (code_further IS NOT NULL);

CREATE INDEX procedure_item ON public.procedure USING btree (site_id, patient_id, item_key) WHERE (item_key IS NOT NULL);

CREATE INDEX procedure_meta ON public.procedure USING btree (site_id, id) WHERE (meta IS NOT NULL);

CREATE INDEX procedure_patient ON public.procedure USING btree (site_id, patient_id, id);

CREATE INDEX resource_history_changes ON ONLY public.resource_history USING btree (site_id, resource_type, last_updated, id);

CREATE INDEX retention_run_started ON public.retention_run USING btree (started_at);

CREATE INDEX search_entry_terms ON public.search_entry USING gin (site_id, terms) WITH (fastupdate='on', gin_pending_list_limit='64');

CREATE INDEX site_closed ON public.site USING btree (closed_until) WHERE (closed_until IS NOT NULL);

CREATE INDEX study_edit_other ON public.study_edit USING btree (site_id, other_study_uid, id) WHERE (other_study_uid IS NOT NULL);

CREATE INDEX study_edit_study ON public.study_edit USING btree (site_id, study_uid, id);

CREATE INDEX unmatched_message_site ON public.unmatched_message USING btree (site_id, id);

CREATE INDEX viewer_token_site ON public.viewer_token USING btree (site_id, expires_at);

CREATE INDEX written_imaging_study_accession ON public.written_imaging_study USING btree (site_id, accession_number) WHERE (accession_number IS NOT NULL);

CREATE INDEX written_imaging_study_lists ON public.written_imaging_study USING gin (site_id, identifiers, series_uids, instance_uids, modalities, sop_classes) WITH (gin_pending_list_limit='512');

CREATE INDEX written_imaging_study_patient ON public.written_imaging_study USING btree (site_id, patient_id) WHERE (patient_id IS NOT NULL);

CREATE INDEX written_imaging_study_started ON public.written_imaging_study USING btree (site_id, started_start) WHERE (started_start IS NOT NULL);

CREATE INDEX written_imaging_study_uid ON public.written_imaging_study USING btree (site_id, study_uid) WHERE (study_uid IS NOT NULL);

CREATE UNIQUE INDEX alert_active ON public.alert USING btree (key) WHERE (ended_at IS NULL);

CREATE UNIQUE INDEX app_user_provider ON public.app_user USING btree (provider_issuer, provider_subject);

CREATE UNIQUE INDEX identity_doubt_key ON public.identity_doubt USING btree (site_id, key);

CREATE UNIQUE INDEX imaging_study_id ON public.imaging_study USING btree (site_id, id);

CREATE UNIQUE INDEX observation_order ON public.observation USING btree (site_id, order_key, item_key) WHERE (order_key IS NOT NULL);

CREATE UNIQUE INDEX replay_run_running ON public.replay_run USING btree (site_id) WHERE (state = 'running'::text);

CREATE UNIQUE INDEX retention_run_running ON public.retention_run USING btree (state) WHERE (state = 'running'::text);

CREATE UNIQUE INDEX saved_filter_name ON public.saved_filter USING btree (owner, screen, name);
