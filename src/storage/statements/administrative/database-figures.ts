import type { Statement } from '../../statement.ts';

/**
 * Reads figures of the server: WAL written so far, failed attempts to archive it, whether the latest one failed, the age of the oldest
 * transaction in seconds, the greatest share of dead rows of a large table, the number of standbys that follow it and the most bytes that one of them
 * lacks, and the most bytes of WAL that a replication slot holds back. A server that is being restored has no WAL position of its own. What a standby has
 * is told to members of pg_monitor alone; others see that it is there.
 */
export const readDatabaseFigures: Statement = {
	name: 'read_database_figures',
	text: `
select
	case when pg_is_in_recovery() then 0 else (pg_current_wal_lsn() - '0/0'::pg_lsn) end,
	a.failed_count,
	case when a.last_failed_time > coalesce(a.last_archived_time, '-infinity') then 1 else 0 end,
	coalesce((
		select extract(epoch from max(clock_timestamp() - t.xact_start))
		from pg_stat_activity t
		where t.datname = current_database() and t.backend_type = 'client backend' and t.pid <> pg_backend_pid()
	), 0),
	coalesce((
		select max(u.n_dead_tup::float8 / (u.n_live_tup + u.n_dead_tup))
		from pg_stat_user_tables u
		where u.n_live_tup + u.n_dead_tup > 100000
	), 0),
	(select count(*) from pg_stat_replication s where s.state is distinct from 'backup'),
	case when pg_is_in_recovery() then 0 else coalesce((
		select greatest(max(pg_current_wal_lsn() - coalesce(s.replay_lsn, s.flush_lsn)), 0)
		from pg_stat_replication s
		where s.state is distinct from 'backup'
	), 0) end,
	case when pg_is_in_recovery() then 0 else coalesce((
		select greatest(max(pg_current_wal_lsn() - r.restart_lsn), 0)
		from pg_replication_slots r
	), 0) end
from pg_stat_archiver a`,
};
