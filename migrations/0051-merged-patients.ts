import { Migration } from '@mikro-orm/migrations';

/**
 * Whoever searches for what refers to a patient means every patient who is the same person by a merge: an index leads from a patient to those
 * whom it replaced. Only merged patients are in it.
 *
 * Locks: writes of `patient` wait while the index is built, about a second for a million rows.
 */
export class MergedPatients extends Migration {
	override up(): void {
		this.addSql('create index patient_merged on patient (site_id, merged_into) where merged_into is not null;');
	}
}
