import { Migration } from '@mikro-orm/migrations';

/**
 * Keeps the runs of retention, legal holds, and a record of each study that retention deleted. Release 0.1.0 does not know the tables; it deletes
 * nothing. Locks: none now. `remove_month` locks message_log or resource_history exclusively for a moment when it drops a month, and waits
 * two seconds for that at most.
 */
export class Retention extends Migration {
	override up(): void {
		this.addSql(tables);
		this.addSql(months);
	}
}

const tables = `
create table retention_run (
	id uuid primary key,
	asked_by text not null,
	state text not null check (state in ('running', 'done', 'failed', 'interrupted')),
	started_at timestamptz not null default now(),
	-- Whoever carries it out says so here while it works.
	seen_at timestamptz not null default now(),
	finished_at timestamptz,
	-- What it removed, by table and site.
	removed jsonb not null default '[]',
	failure text
);
-- One run at a time in the whole network.
create unique index retention_run_running on retention_run (state) where state = 'running';
create index retention_run_started on retention_run (started_at);

create table legal_hold (
	site_id uuid not null,
	id uuid not null,
	patient_id uuid,
	study_uid text,
	reason text not null check (length(reason) between 1 and 500),
	placed_at timestamptz not null,
	placed_by text not null,
	lifted_at timestamptz,
	lifted_by text,
	primary key (site_id, id),
	check ((patient_id is null) <> (study_uid is null))
);
create index legal_hold_in_force on legal_hold (site_id) where lifted_at is null;

create table deleted_study (
	site_id uuid not null,
	-- The id of the ImagingStudy.
	id uuid not null,
	deleted_at timestamptz not null,
	study_uid text not null,
	version integer not null,
	patient_id uuid,
	-- A code of DICOM PS3.16 CID 7011, Rejected for Quality, Patient Safety or Data Retention reasons.
	reason_code text not null,
	reason text not null,
	deleted_by text not null,
	changed_at timestamptz not null,
	series_count integer not null,
	instance_count integer not null,
	bytes bigint not null,
	-- Series Instance UID, SOP Class UID and SOP Instance UID of each instance, as a rejection note would name them.
	instances jsonb not null,
	-- Objects that are still to be removed from the object store; null when all are.
	object_keys text[],
	primary key (site_id, id, deleted_at)
);
create index deleted_study_uid on deleted_study (site_id, study_uid);
create index deleted_study_objects on deleted_study (site_id) where object_keys is not null;
select assume_statistics();
`;

const months = `
-- The partitions of a table whose months are all over by a moment, oldest first, with the end of each.
create function months_before(parent text, moment timestamptz) returns table (name text, until timestamptz) language plpgsql stable set timezone = 'UTC' as $$
begin
	return query
	select m.name, m.until from (
		select c.relname::text as name,
			case
				when parent = 'resource_history' then b.bound::timestamptz
				else to_timestamp(('x' || lpad(translate(left(b.bound, 13), '-', ''), 16, '0'))::bit(64)::bigint / 1000.0)
			end as until
		from pg_inherits i
		join pg_class c on c.oid = i.inhrelid
		cross join lateral (select substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''([^'']+)''\\)') as bound) b
		where i.inhparent = to_regclass(parent) and b.bound is not null
	) m
	where m.until <= moment
	order by m.until;
end $$;

-- Drops a month of message_log or resource_history, unless a site that keeps it has a row there. Returns the number of rows that went; null if it stays.
-- drops: nothing now; when it is called, months that the retention of every site gives up.
create function remove_month(parent text, name text, keeping uuid[]) returns bigint language plpgsql set lock_timeout = '2s' as $$
declare
	kept boolean;
	rows bigint;
begin
	if parent not in ('message_log', 'resource_history') then raise exception 'months of % are not removed', parent; end if;
	if not exists (select from pg_inherits where inhparent = to_regclass(parent) and inhrelid = to_regclass(name)) then return null; end if;
	-- As whoever makes the months to come.
	perform pg_advisory_xact_lock(7421914);
	execute format('lock table %I in access exclusive mode', name);
	execute format('select exists (
		select from (select unnest($1::uuid[]) as id union select site_id from legal_hold where lifted_at is null) s
		where exists (select from %I m where m.site_id = s.id))', name) into kept using keeping;
	if kept then return null; end if;
	execute format('select count(*) from %I', name) into rows;
	execute format('drop table %I', name);
	return rows;
end $$;
`;
