import { Migration } from '@mikro-orm/migrations';

/**
 * Exports and imports of whole sites. Locks: a table of resources is locked while its primary key is built anew, about a
 * second for a million rows.
 */
export class Bulk extends Migration {
	override up(): void {
		this.addSql(jobs);
		for (const table of resourceTables) this.addSql(newestKey(table, 'site_id, id'));
		this.addSql(newestKey('resource_history', 'site_id, resource_type, id, version'));
	}
}

const resourceTables = [
	'patient',
	'encounter',
	'observation',
	'condition',
	'allergy_intolerance',
	'procedure',
	'document_reference',
	'diagnostic_report',
];

/**
 * Until a table is analyzed, its indexes look alike to the planner, which then takes the newest: the lookups by id of a new
 * database would walk the index by time of change, the longer the more it is filled.
 */
function newestKey(table: string, columns: string): string {
	return `alter table ${table} drop constraint ${table}_pkey, add primary key (${columns});`;
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
	-- Its outcome, for its manifest.
	result jsonb,
	failure text,
	primary key (site_id, id)
);
`;
