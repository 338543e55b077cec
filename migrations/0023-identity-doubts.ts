import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the work list of doubts about who a patient is. Locks: none beyond the new table. Doubts of messages that came before are not
 * known: the message log keeps their flags.
 */
export class IdentityDoubts extends Migration {
	override up(): void {
		this.addSql(doubts);
	}
}

const doubts = `
create table identity_doubt (
	site_id uuid not null,
	id uuid not null,
	kind text not null,
	-- Digest of what makes it the same doubt when it comes again.
	key uuid not null,
	-- Row ids: the patient that was taken, and the other one.
	patient_id uuid,
	other_patient_id uuid,
	study_uid text,
	-- For people, without a patient's data.
	text text not null,
	count integer not null default 1,
	first_message_id uuid not null,
	first_surface text not null,
	first_at timestamptz not null,
	last_message_id uuid not null,
	last_surface text not null,
	last_at timestamptz not null,
	settled_at timestamptz,
	settled_by text,
	settled_how text,
	primary key (site_id, id)
);
create unique index identity_doubt_key on identity_doubt (site_id, key);
create index identity_doubt_open on identity_doubt (site_id, id) where settled_at is null;
create index identity_doubt_study on identity_doubt (site_id, study_uid) where settled_at is null and study_uid is not null;
`;
