import { Migration } from '@mikro-orm/migrations';

/** Studies, series and instances that modalities send. Locks: none that matter, the tables are new. */
export class Imaging extends Migration {
	override up(): void {
		this.addSql(imaging);
	}
}

const imaging = `
create table imaging_study (
	site_id uuid not null,
	study_uid text not null,
	id uuid not null,
	-- Null: the data sets name no patient.
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
	created_at timestamptz not null,
	updated_at timestamptz not null,
	primary key (site_id, study_uid)
) with (fillfactor = 80);
create index imaging_study_patient on imaging_study (site_id, patient_id, study_uid);
create index imaging_study_accession on imaging_study (site_id, accession_number) where accession_number is not null;

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
	primary key (site_id, study_uid, series_uid)
) with (fillfactor = 80);

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
	-- SHA-256 of the data set as it was received.
	digest text not null,
	bytes bigint not null,
	object_key text not null,
	calling_ae text not null,
	source text not null,
	stored_at timestamptz not null,
	primary key (site_id, sop_instance_uid)
);
create index imaging_instance_series on imaging_instance (site_id, study_uid, series_uid);

-- Other content under a known UID, kept aside until a person settles it.
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
	received_at timestamptz not null,
	settled_at timestamptz,
	primary key (site_id, id)
);
create index imaging_conflict_instance on imaging_conflict (site_id, sop_instance_uid) where settled_at is null;
`;
