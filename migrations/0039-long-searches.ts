import { Migration } from '@mikro-orm/migrations';

/**
 * Searches whose parameters are too long for the links of their pages: a link names the search by its id, and any node can follow it. A row is
 * the same search of a site however often it is asked, and it is deleted when it has expired. Locks: none, the table is new.
 * A node of release 0.1.0 does not know such links and answers 400.
 */
export class LongSearches extends Migration {
	override up(): void {
		this.addSql(searches);
	}
}

const searches = `
create table long_search (
	site_id uuid not null,
	-- A digest of type and parameters.
	id uuid not null,
	type text not null,
	-- As in the query of a URL, in the order in which they were applied.
	parameters text not null,
	expires_at timestamptz not null,
	primary key (site_id, id)
);
create index long_search_expires_at on long_search (site_id, expires_at);
`;
