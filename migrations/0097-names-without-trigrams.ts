import { Migration } from '@mikro-orm/migrations';

/**
 * No statement reads by the trigrams of names any more (0095). A node of the release before still does: it goes on to find names, by reading all of them.
 *
 * Locks: `patient` for a moment. It is a migration of its own: one that had locked the table before would wait for batches that wait for it.
 */
export class NamesWithoutTrigrams extends Migration {
	override up(): void {
		this.addSql(`
-- drops: patient_name, which patient_grams replaces.
drop index patient_name;
`);
	}
}
