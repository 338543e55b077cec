import { Migration } from '@mikro-orm/migrations';

/** Procedure steps that modalities report. Locks: none that matter, the tables are new. */
export class Mpps extends Migration {
	override up(): void {
		this.addSql(sessions);
	}
}

const sessions = `
create table mpps_session (
	site_id uuid not null,
	id uuid not null,
	sop_instance_uid text not null,
	-- The study may come later, or never: no key refers to it.
	study_uid text not null,
	status text not null check (status in ('IN PROGRESS', 'COMPLETED', 'DISCONTINUED')),
	-- The first report was final already.
	late boolean not null,
	-- JSON as text, which keeps every digit: what all reports stated, the later over the earlier.
	attributes text not null,
	-- Read of the attributes.
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
	-- Accepted reports, and what the last one is recognised by when it comes again.
	reports integer not null,
	last_digest text not null,
	last_message_id uuid not null,
	created_at timestamptz not null,
	updated_at timestamptz not null,
	primary key (site_id, id),
	unique (site_id, sop_instance_uid)
) with (fillfactor = 80);
create index mpps_session_study on mpps_session (site_id, study_uid, id);
create index mpps_session_status on mpps_session (site_id, status, id);
create index mpps_session_accession on mpps_session (site_id, accession_number, id) where accession_number is not null;
create index mpps_session_patient on mpps_session (site_id, patient_id, id) where patient_id is not null;

-- Every accepted report; the session is what they come to.
create table mpps_event (
	site_id uuid not null,
	session_id uuid not null,
	number integer not null,
	message_id uuid not null,
	recorded_at timestamptz not null,
	-- Surface and sender.
	source text not null,
	status text not null,
	attributes text not null,
	primary key (site_id, session_id, number)
);
`;
