import { Migration } from '@mikro-orm/migrations';

/**
 * Counts the exports and imports of a site so that requests which arrive on several nodes at the same time do not overlook each other. Release 0.1.0
 * does not call the function. Locks: none on what exists.
 */
export class BulkBounds extends Migration {
	override up(): void {
		this.addSql(counted);
	}
}

/**
 * A statement that counts rows does not see those of a transaction that commits after it began. So whoever counts takes the lock of the site first, and
 * keeps it to the end of the transaction; each statement of a volatile function sees what was committed before itself.
 */
const counted = `
create function bulk_jobs_held(site uuid, asking_key text, out under_way bigint, out of_key bigint, out kept bigint)
language plpgsql volatile as $$
begin
	perform pg_advisory_xact_lock(hashtextextended('bulk_job ' || site::text, 0));
	select count(*) filter (where j.state in ('receiving', 'waiting', 'running')),
		count(*) filter (where j.state in ('receiving', 'waiting', 'running') and j.key_id = asking_key), count(*)
	into under_way, of_key, kept
	from bulk_job j where j.site_id = site;
end $$;
`;
