import { Migration } from '@mikro-orm/migrations';

/**
 * The texts of the types that share a table are found by grams like the names of patients (0095).
 *
 * Locks: `other_resource` against writes while the index is built, some ten seconds for a million rows. It is a migration of its own, so that `patient` is
 * not locked meanwhile.
 */
export class GramsOfStrings extends Migration {
	override up(): void {
		this.addSql(`
create index other_resource_grams on other_resource using gin (tributary_grams(site_id, strings) collate "C") with (gin_pending_list_limit = 512);
`);
	}
}
