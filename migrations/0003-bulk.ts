import { Migration } from '@mikro-orm/migrations';

/** Exports and imports of whole sites. Locks: none that matter, the table is new. */
export class Bulk extends Migration {
	override up(): void {
		this.addSql(jobs);
	}
}

const jobs = `
create table bulk_job (
	site_id uuid not null,
	id uuid not null,
	kind text not null check (kind in ('export', 'import')),
	state text not null check (state in ('receiving', 'waiting', 'running', 'done', 'failed', 'interrupted')),
	-- The node that carries it out and has its files.
	node_id uuid not null,
	-- The key that asked for it, and what it asked.
	key_id text not null,
	request text not null,
	parameters jsonb not null,
	created_at timestamptz not null default now(),
	-- When its node last said that it goes on.
	seen_at timestamptz not null default now(),
	finished_at timestamptz,
	-- Lines of an import whose chunks are committed; written with them.
	position bigint not null default 0,
	progress text not null default '',
	-- What became of it, for its manifest.
	result jsonb,
	failure text,
	primary key (site_id, id)
);
`;
