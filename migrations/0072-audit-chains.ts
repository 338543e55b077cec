import { Migration } from '@mikro-orm/migrations';

/**
 * Links the audit trail by hashes, and lets it name the patients and studies of an event. docs/decisions/0060-audit-trail-in-chains.md has
 * the reasons.
 *
 * What was recorded before is not linked: such events have the nil id as their batch, which an event that is recorded from now on never has.
 * Nor is it known of which patients they tell.
 *
 * Locks: audit_event takes no rows while two indexes are built over it, which have none of the stored events (some seconds for ten million).
 */
export class AuditChains extends Migration {
	override up(): void {
		this.addSql(events);
		this.addSql(chains);
	}
}

const events = `
alter table audit_event
	-- Row ids of the patients whose data was read or changed; null where the event tells of none.
	add column patients uuid[],
	-- Study Instance UIDs.
	add column studies text[],
	-- The batch that links the event; null until one does.
	add column batch uuid default '00000000-0000-0000-0000-000000000000';
alter table audit_event alter column batch drop default;
create index audit_event_patients on audit_event using gin (patients) with (gin_pending_list_limit = 64) where patients is not null;
create index audit_event_unlinked on audit_event (id) where batch is null;
`;

const chains = `
-- One for each process that writes events. Each has its own, so that they need not wait for each other.
create table audit_chain (
	id uuid primary key,
	started_at timestamptz not null
);

create table audit_batch (
	chain_id uuid not null,
	sequence bigint not null,
	id uuid not null unique,
	recorded_at timestamptz not null,
	events integer not null check (events >= 0),
	first_id uuid,
	last_id uuid,
	-- The digest of the batch before it; empty for the first one.
	previous bytea not null,
	digest bytea not null,
	-- The ends of other chains, the end of this one, and what was removed by age.
	notes text not null default '{}',
	primary key (chain_id, sequence)
);
`;
