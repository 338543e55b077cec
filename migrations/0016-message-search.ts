import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the search columns of the message log, decisions about identities, and replays of many messages. Locks: message_log
 * takes no rows while its indexes are built, some seconds for a million rows; the columns rewrite nothing.
 */
export class MessageSearch extends Migration {
	override up(): void {
		this.addSql(messages);
		this.addSql(replays);
		this.addSql(identity);
	}
}

const messages = `
-- Values of the business identifiers of whom the message is about: PID-3, and MRG-1 or the second PID-3.
alter table message_log add column patient text, add column other_patient text;
-- Each in the order of time, so that a page reads what it shows. What no message of a kind has costs that kind nothing.
create index message_log_control on message_log (site_id, control_id, id) where control_id <> '';
create index message_log_type on message_log (site_id, message_type, id);
create index message_log_client on message_log (site_id, client_id, id) where client_id <> '00000000-0000-0000-0000-000000000000';
create index message_log_surface on message_log (site_id, surface, id) where surface <> 'mllp';
create index message_log_patient on message_log (site_id, patient, id) where patient is not null;
create index message_log_other_patient on message_log (site_id, other_patient, id) where other_patient is not null;
create index message_log_outcome on message_log (site_id, outcome, id) where outcome <> 'accepted';
create index message_log_overlay on message_log (site_id, id) where flags @> '[{"code":"possible-overlay"}]';
create index message_log_replay on message_log (site_id, replay_of) where replay_of is not null;
`;

const replays = `
-- A replay of many messages, in order: what is asked for, and how far it has come.
create table replay_run (
	site_id uuid not null,
	id uuid not null,
	actor text not null,
	cause jsonb,
	message_ids uuid[] not null,
	state text not null check (state in ('running', 'done', 'cancelled', 'failed', 'interrupted')),
	done integer not null default 0,
	accepted integer not null default 0,
	refused integer not null default 0,
	other integer not null default 0,
	-- Mended by the time it was their turn.
	skipped integer not null default 0,
	failure text,
	started_at timestamptz not null default now(),
	-- Moved on by the node that carries it out; a run that stays silent was interrupted.
	seen_at timestamptz not null default now(),
	finished_at timestamptz,
	primary key (site_id, id)
);
create unique index replay_run_running on replay_run (site_id) where state = 'running';
`;

const identity = `
-- "Not the same": two patients that look alike, or (both ids the same) a message that was flagged as a possible overlay.
create table identity_dismissal (
	site_id uuid not null,
	first_id uuid not null,
	second_id uuid not null,
	dismissed_at timestamptz not null,
	dismissed_by text not null,
	primary key (site_id, first_id, second_id)
);
`;
