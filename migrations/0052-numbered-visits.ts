import { Migration } from '@mikro-orm/migrations';

/**
 * A visit tells whether it has a number, so that a message with a number reads only the open visits that have none. Open visits are marked
 * here; null, as a node of release 0.1.0 leaves it, means that the row has to be looked at.
 *
 * Locks: `add column` takes an exclusive lock on encounter for a moment and rewrites nothing. The open visits are updated, a minute for a
 * million of them; writes to encounter wait while the index is built, which then holds few rows.
 */
export class NumberedVisits extends Migration {
	override up(): void {
		this.addSql(`
alter table encounter add column is_numbered boolean;
update encounter set is_numbered = true
where status not in ('finished', 'cancelled', 'entered-in-error') and resource::jsonb ? 'identifier';
create index encounter_unnumbered on encounter (site_id, patient_id)
	where status not in ('finished', 'cancelled', 'entered-in-error') and given_id is null and is_numbered is not true;
`);
	}
}
