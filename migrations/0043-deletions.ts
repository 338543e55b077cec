import { Migration } from '@mikro-orm/migrations';

/**
 * Clients may delete resources of the types that share a table, if their site permits it. Until now nothing set `deleted`, so there is
 * nothing to carry over. The history of a type walks the deletions beside the other newest versions.
 *
 * Locks: `other_resource` takes no writes while it is scanned once; the index starts empty.
 */
export class Deletions extends Migration {
	override up(): void {
		this.addSql('create index other_resource_deletions on other_resource (site_id, resource_type, last_updated, id) where deleted');
	}
}
