import { Migration } from '@mikro-orm/migrations';

/**
 * The same as 0097 for the types that share a table.
 *
 * Locks: `other_resource` for a moment.
 */
export class StringsWithoutTrigrams extends Migration {
	override up(): void {
		this.addSql(`
-- drops: other_resource_strings, which other_resource_grams replaces.
drop index other_resource_strings;
`);
	}
}
