import { Migration } from '@mikro-orm/migrations';

/**
 * Profiles, value sets and code systems that a site has loaded, in the form in which they are checked. The number of their state lets every
 * node and worker read them again when they have changed. Locks: site, for a moment; the default is kept in the catalog, so no row is
 * written.
 */
export class Profiles extends Migration {
	override up(): void {
		this.addSql(definitions);
	}
}

const definitions = `
create table site_definition (
	site_id uuid not null references site (id),
	id uuid not null,
	kind text not null check (kind in ('StructureDefinition', 'ValueSet', 'CodeSystem')),
	url text not null,
	version text not null,
	name text not null,
	-- The type that a profile constrains; empty for value sets and code systems.
	type text not null,
	-- The package that brought it, as name#version; empty when it came alone.
	package text not null,
	content text not null,
	created_at timestamptz not null,
	primary key (site_id, id),
	unique (site_id, kind, url, version)
);
alter table site add column definitions_version bigint not null default 0;
`;
