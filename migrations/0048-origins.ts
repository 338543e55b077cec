import { Migration } from '@mikro-orm/migrations';

/**
 * Says of a resource in the shared table that messages made it: `message`. Null is everything else, and what stands already: until now no
 * message made a resource of these types. What a client or an import writes becomes theirs, and messages do not change it any more.
 *
 * A node of release 0.1.0 does not write the table.
 *
 * Locks: `other_resource` exclusively for a moment; a column without a default rewrites nothing. It takes no writes while the index of the
 * three types is made.
 */
export class Origins extends Migration {
	override up(): void {
		this.addSql('alter table other_resource add column origin text');
		this.addSql(index);
		this.addSql('select assume_statistics()');
	}
}

/** Messages look these up in every batch. Without a list of what is not entered yet, a look-up never reads what others wrote last. */
const index = `
create index other_resource_named on other_resource using gin (site_id, terms) with (fastupdate = off)
	where resource_type in ('Practitioner', 'Organization', 'Location') and not deleted
`;
