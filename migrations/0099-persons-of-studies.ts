import { Migration } from '@mikro-orm/migrations';

/**
 * A study without a patient keeps the birth date and the sex that its images state, beside the name. They are not known of earlier studies:
 * they are in the stored files alone.
 *
 * Locks: `add column` takes an exclusive lock on imaging_study for a moment and rewrites nothing.
 */
export class PersonsOfStudies extends Migration {
	override up(): void {
		this.addSql(`
alter table imaging_study
	-- What the images of a study without a patient state; the sex is a FHIR administrative gender.
	add column stated_patient_birth_date date,
	add column stated_patient_gender text;
`);
	}
}
