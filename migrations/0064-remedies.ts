import { Migration } from '@mikro-orm/migrations';

/**
 * What people do about refused messages: they set one aside that will never be mended, and send one again with another content. A run
 * tells ignored messages and known ones apart, and can be put away.
 *
 * Locks: replay_run exclusively, for a moment; nothing is rewritten. Of earlier runs nobody knows which of the others were ignored: their two
 * new counts are 0. Release 0.1.0 does not know the tables: one of its nodes counts a message that was set aside as open, and replays it.
 */
export class Remedies extends Migration {
	override up(): void {
		this.addSql(`
create table set_aside_message (
	site_id uuid not null,
	message_id uuid not null,
	reason text not null check (length(reason) between 1 and 500),
	actor text not null,
	set_aside_at timestamptz not null default now(),
	primary key (site_id, message_id)
);
-- The new message has another content than the one that it replays.
create table edited_message (
	site_id uuid not null,
	message_id uuid not null,
	original_id uuid not null,
	actor text not null,
	edited_at timestamptz not null default now(),
	primary key (site_id, message_id)
);
alter table replay_run
	add column ignored integer not null default 0,
	add column known integer not null default 0,
	add column dismissed_at timestamptz;
`);
	}
}
