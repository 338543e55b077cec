import { Migration } from '@mikro-orm/migrations';

/**
 * A run may also read the local times of stored messages anew, after a time zone was set. It keeps what it does, how far it has come and,
 * until it ends, which resources it has met. Runs that are there are replays. A node of an earlier version shows such a run as a replay of
 * no messages, and may call it interrupted; a node of this version takes it up again. Locks: replay_run for a moment; the columns rewrite
 * nothing.
 */
export class Rederivations extends Migration {
	override up(): void {
		this.addSql(columns);
		this.addSql(resources);
	}
}

const columns = `
alter table replay_run
	add column kind text not null default 'replay',
	-- The zone, whose messages, and whether it is a preview.
	add column task jsonb,
	-- How far it has come, and its counts; written in the transaction of each step.
	add column progress jsonb;
`;

const resources = `
create table rederived_resource (
	site_id uuid not null,
	run_id uuid not null,
	resource_type text not null,
	id uuid not null,
	-- False: its times stay, because something newer or a person wrote them.
	is_changed boolean not null,
	primary key (site_id, run_id, resource_type, id)
);
`;
