import { Migration } from '@mikro-orm/migrations';

/**
 * Lets months of the audit trail be removed whole. The function waits two seconds for a lock at most; a later call succeeds. Locks: none now;
 * `remove_audit_months` locks audit_event exclusively for a moment, when it removes a month.
 */
export class AuditRetention extends Migration {
	override up(): void {
		this.addSql(removal);
	}
}

const removal = `
-- Returns the end of the last month that has ended by a moment and can be removed, as the least id behind it; null if there is none.
create function removable_audit_months(moment timestamptz) returns uuid language plpgsql stable as $$
declare
	bound text;
	latest text;
begin
	for bound in
		select substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''([0-9a-f-]{36})''\\)')
		from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent = 'audit_event'::regclass
	loop
		if bound is not null and bound <= trim(both '''' from partition_bound('audit_event', moment)) and (latest is null or bound > latest) then
			latest := bound;
		end if;
	end loop;
	return latest::uuid;
end $$;

-- Removes the partitions that end there or before, and the batches that they had. What they were has been noted before.
-- drops: nothing now; when it is called, months of audit_event that AUDIT_KEEP_DAYS gives up.
create function remove_audit_months(before uuid) returns integer language plpgsql set lock_timeout = '2s' as $$
declare
	removed integer := 0;
	name text;
begin
	perform pg_advisory_xact_lock(7421914);
	for name in
		select c.relname
		from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent = 'audit_event'::regclass
			and substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''([0-9a-f-]{36})''\\)')::uuid <= before
	loop
		execute format('drop table %I', name);
		removed := removed + 1;
	end loop;
	delete from audit_batch where id < before;
	delete from audit_chain c where not exists (select from audit_batch b where b.chain_id = c.id) and c.id < before;
	return removed;
end $$;
`;
