import { Migration } from '@mikro-orm/migrations';

/**
 * Searches follow merges: `tributary_survivor` leads from a patient to the one who replaced it, to the end of the chain.
 *
 * Locks: none that last. No stored row changes, because `patient.merged_into` has said since the first release who replaced whom.
 */
export class Survivors extends Migration {
	override up(): void {
		this.addSql(survivor);
	}
}

const survivor = `
create function tributary_survivor(site uuid, patient uuid) returns uuid language sql stable parallel safe
return (
	with recursive chain as (
		select p.id, p.merged_into from patient p where p.site_id = site and p.id = patient
		union
		select p.id, p.merged_into from chain c join patient p on p.site_id = site and p.id = c.merged_into
	)
	select c.id from chain c where c.merged_into is null
);
`;
