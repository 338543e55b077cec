import { Migration } from '@mikro-orm/migrations';

/**
 * Keeps the tables that only grow by month, so that old months can be dropped whole: message_log, audit_event and resource_history.
 * See docs/decisions/0032-keys-and-monthly-partitions.md. What is stored stays where it is and becomes the first partition of its table.
 *
 * Locks: each of the three tables takes no rows and no reads while it is read once to check its bounds (some seconds for ten million
 * rows); nothing is rewritten but events of the audit trail that belong to no site, which get the nil id.
 * accepted_message gets a BRIN index on its time, by which old rows are found when they are purged.
 * An id that is not of UUID version 7 tells no time: such a row stays in the first or the default partition for good.
 */
export class MonthlyPartitions extends Migration {
	override up(): void {
		this.addSql(auditKey);
		this.addSql(functions);
		for (const table of ['message_log', 'audit_event', 'resource_history']) this.addSql(`select partition_by_month('${table}')`);
		this.addSql('drop function partition_by_month(text)');
		this.addSql('create index accepted_message_time on accepted_message using brin (accepted_at)');
		this.addSql('select ensure_month_partitions()');
	}
}

const auditKey = `
-- Events of no site have the nil id: then the site leads the key here, too.
alter table audit_event alter column site_id set default '00000000-0000-0000-0000-000000000000';
update audit_event set site_id = default where site_id is null;
alter table audit_event alter column site_id set not null;
alter table audit_event drop constraint audit_event_pkey;
drop index audit_event_listed;
alter table audit_event add primary key (site_id, id);
-- The trail of all sites, newest first.
create index audit_event_all on audit_event (id);
`;

/**
 * Makes the function that makes the partitions of this month and of those ahead, and returns how many were missing. Nodes that call it at
 * once wait for each other. It never waits long for a lock: a reader that takes hours would otherwise keep all others from the table; a
 * later call succeeds. `finallyDo` is what it does last.
 */
export const ensureMonthPartitions = (statement: 'create function' | 'create or replace function', finallyDo = '') => `
${statement} ensure_month_partitions(ahead integer default 2) returns integer language plpgsql set lock_timeout = '2s' as $$
declare
	made integer := 0;
	parent text;
	month integer;
begin
	perform pg_advisory_xact_lock(7421914);
	for parent in select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname = current_schema() and c.relkind = 'p' and c.relname in ('message_log', 'audit_event', 'resource_history') order by 1
	loop
		for month in 0..ahead loop
			if to_regclass(parent || '_before_' || to_char(month_from_now(month + 1) at time zone 'UTC', 'YYYYMM')) is null
				and make_month_partition(parent, month_from_now(month)) then
				made := made + 1;
			end if;
		end loop;
	end loop;
	${finallyDo}return made;
end $$;
`;

const functions = `
-- The column that tells a row's month: ids are UUIDs of version 7, which begin with the time in milliseconds (RFC 9562 §5.7).
create function partition_column(parent text) returns text language sql immutable as
$$ select case parent when 'resource_history' then 'last_updated' else 'id' end $$;

create function partition_bound(parent text, moment timestamptz) returns text language sql stable as $$
select case parent
	when 'resource_history' then quote_literal(to_char(moment at time zone 'UTC', 'YYYY-MM-DD') || 'T00:00:00Z')
	else quote_literal(rpad(lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0'), 32, '0')::uuid)
end $$;

-- The first moment of a month in UTC, so many months from now.
create function month_from_now(months integer) returns timestamptz language sql stable as
$$ select date_trunc('month', now() at time zone 'UTC' + make_interval(months => months)) at time zone 'UTC' $$;

-- Makes the partition of one month, unless it is there. Rows of the month that wait in the default partition move into it.
create function make_month_partition(parent text, moment timestamptz) returns boolean language plpgsql as $$
declare
	name text := parent || '_' || to_char(moment at time zone 'UTC', 'YYYYMM');
	key text := partition_column(parent);
	low text := partition_bound(parent, moment);
	high text := partition_bound(parent, moment + interval '1 month');
begin
	if to_regclass(name) is not null then return false; end if;
	execute format('create table %I (like %I including defaults including constraints including storage) with (toast_tuple_target = 8160)', name, parent);
	execute format('lock table %I in access exclusive mode', parent || '_default');
	execute format('with moved as (delete from %I where %I >= %s and %I < %s returning *) insert into %I select * from moved',
		parent || '_default', key, low, key, high, name);
	execute format('alter table %I attach partition %I for values from (%s) to (%s)', parent, name, low, high);
	return true;
end $$;

${ensureMonthPartitions('create function')}

-- Turns a table into the first partition of a table of its name.
create function partition_by_month(parent text) returns void language plpgsql as $$
declare
	boundary timestamptz := month_from_now(1);
	key text := partition_column(parent);
	high text := partition_bound(parent, boundary);
	first_name text := parent || '_before_' || to_char(boundary at time zone 'UTC', 'YYYYMM');
	definitions text[];
	primary_key text;
	definition text;
	index_name text;
begin
	select array_agg(pg_get_indexdef(i.indexrelid)) into definitions from pg_index i where i.indrelid = parent::regclass and not i.indisprimary;
	select pg_get_constraintdef(k.oid) into primary_key from pg_constraint k where k.conrelid = parent::regclass and k.contype = 'p';
	-- The month belongs to the key where it is not the id that tells it.
	if key <> 'id' then
		execute format('alter table %I drop constraint %I', parent, parent || '_pkey');
		primary_key := replace(primary_key, ')', ', ' || key || ')');
		execute format('alter table %I add constraint %I %s', parent, parent || '_pkey', primary_key);
	end if;
	execute format('alter table %I rename to %I', parent, first_name);
	for index_name in select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = first_name::regclass loop
		execute format('alter index %I rename to %I', index_name, left(index_name || '_before', 63));
	end loop;
	execute format('create table %I (like %I including defaults including constraints including storage) partition by range (%I)', parent, first_name, key);
	execute format('alter table %I add constraint %I %s', parent, parent || '_pkey', primary_key);
	foreach definition in array coalesce(definitions, '{}') loop execute definition; end loop;
	execute format('create table %I (like %I including defaults including constraints including storage) with (toast_tuple_target = 8160)', parent || '_default', parent);
	execute format('with moved as (delete from %I where %I >= %s returning *) insert into %I select * from moved', first_name, key, high, parent || '_default');
	execute format('alter table %I attach partition %I default', parent, parent || '_default');
	execute format('alter table %I attach partition %I for values from (minvalue) to (%s)', parent, first_name, high);
end $$;
`;
