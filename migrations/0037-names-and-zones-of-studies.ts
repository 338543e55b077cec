import { Migration } from '@mikro-orm/migrations';

/**
 * A study keeps the ideographic and phonetic name that its images state, and whether its local time was read by a zone that nobody has set.
 * Neither is known of earlier studies: the names are in the stored files alone, and nobody noted whose zone it was. Open visits get an index
 * by patient, by which a visit number is joined to a visit that had none.
 *
 * Locks: `add column` takes an exclusive lock on imaging_study for a moment and rewrites nothing. Writes to encounter wait while the index is
 * built, some seconds for a million visits.
 */
export class NamesAndZonesOfStudies extends Migration {
	override up(): void {
		this.addSql(`
alter table imaging_study
	add column name_ideographic text,
	add column name_phonetic text,
	-- The zone of the host, where started_zone was assumed. It is so as long as both are equal.
	add column assumed_zone text;
create index encounter_open on encounter (site_id, patient_id) where status not in ('finished', 'cancelled', 'entered-in-error');
`);
	}
}
