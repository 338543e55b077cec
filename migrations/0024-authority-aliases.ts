import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the names that assigning authorities share, and the number of their state for each site, which a batch gets together with its turn.
 * Locks: site_turn takes no reads and no writes for a moment, while a column with a constant default is added; it rewrites nothing. What
 * senders stated before is not known: the next message that states a name and an OID together teaches it. A node of an earlier version
 * takes turns as before; it compares the names as they are.
 */
export class AuthorityAliases extends Migration {
	override up(): void {
		this.addSql(aliases);
	}
}

const aliases = `
-- Two systems of identifiers that are one authority, the smaller one first.
create table authority_alias (
	site_id uuid not null,
	system text not null,
	other text not null,
	-- learned: a sender stated both in one identifier; person: somebody joined them.
	origin text not null check (origin in ('learned', 'person')),
	since timestamptz not null,
	by text not null,
	-- Pairs of patients that the join merged: row ids of survivor and prior.
	merged jsonb not null default '[]',
	-- Set when it does not hold any more. It is not learned again.
	ended_at timestamptz,
	ended_by text,
	primary key (site_id, system, other)
);
create index authority_alias_other on authority_alias (site_id, other);
alter table site_turn add column authority_version bigint not null default 0;

-- All systems that are one authority with one of those named, and these themselves.
create function authority_systems(site uuid, named text[]) returns text[] language sql stable parallel safe as $$
	with recursive same as (
		select unnest(named) as system
		union
		select case when a.system = s.system then a.other else a.system end
		from same s
		join authority_alias a on a.site_id = site and a.ended_at is null and (a.system = s.system or a.other = s.system)
	)
	select array_agg(system) from same;
$$;
`;
