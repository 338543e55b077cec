import type { Log } from '#core/log.ts';
import { systemTimers, type Timers } from '#core/timers.ts';
import { watch } from '#core/watch.ts';
import type { StatementRunner } from './connection.ts';
import type { Statement } from './statement.ts';

/** Returns how many partitions were missing. The function is defined in migration `monthly-partitions`. */
const ensurePartitions: Statement = { name: 'ensure_month_partitions', text: 'select ensure_month_partitions()' };

/**
 * Lets the planner forget that a table is empty. After VACUUM or ANALYZE of an empty table it expects no row, and then any index that begins
 * with the site is as good as the right one: until the next ANALYZE every look-up would read the whole site. A table that was never analyzed
 * is assumed to have some pages. Before PostgreSQL 18 statistics cannot be stated.
 * Locks: a share lock on the statistics of each such table, for a moment.
 */
export const forgetEmptyTables: Statement = {
	name: 'forget_empty_tables',
	text: `
do $$
begin
	if current_setting('server_version_num')::integer >= 180000 then
		perform pg_restore_relation_stats('schemaname', n.nspname::text, 'relname', c.relname::text, 'relpages', 0, 'reltuples', (-1)::real)
		from pg_class c
		join pg_namespace n on n.oid = c.relnamespace
		where n.nspname = current_schema() and c.relkind = 'r' and c.reltuples = 0 and pg_relation_size(c.oid) = 0
			and exists (select from pg_attribute s where s.attrelid = c.oid and s.attname = 'site_id');
	end if;
end
$$`,
};

/**
 * Analyzes the tables that have more than doubled since PostgreSQL last counted their pages, as it does when it analyzes them. Autovacuum
 * does that too, but by counts of changes that PostgreSQL loses when it crashes: after a few crashes queries of a new database with many rows
 * are planned as if it had none, and searches walk through whole sites. Only one session does it at a time. It passes over tables that the role
 * may not analyze, and over those that autovacuum is working on.
 */
export const analyzeGrownTables: Statement = {
	name: 'analyze_grown_tables',
	text: `
do $$
declare
	grown regclass;
begin
	if not pg_try_advisory_xact_lock(hashtext('tributary analyze_grown_tables')) then
		return;
	end if;
	for grown in
		select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname = current_schema() and c.relkind = 'r' and pg_has_role(c.relowner, 'usage')
			and pg_relation_size(c.oid) / current_setting('block_size')::integer > 2 * c.relpages + 64
	loop
		execute format('analyze (skip_locked) %s', grown);
		-- The next round goes on.
		exit when clock_timestamp() > statement_timestamp() + interval '10 seconds';
	end loop;
end
$$`,
};

/**
 * Sorts in what GIN indexes gathered in their lists of new entries: a search through such an index reads its list as a whole. It passes over indexes that
 * the role may not look after. Where nothing is gathered it writes nothing.
 */
export const sortInNewEntries: Statement = {
	name: 'sort_in_new_entries',
	text: `
select count(gin_clean_pending_list(c.oid))
from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_am a on a.oid = c.relam
where n.nspname = current_schema() and c.relkind = 'i' and a.amname = 'gin' and pg_has_role(c.relowner, 'usage')`,
};

/** Partitions are made months ahead, so how often is of no consequence. */
const partitionsEveryMs = 3_600_000;
/** Rows can come by the thousand in a second, and searches are slow until their tables are analyzed. */
const statisticsEveryMs = 60_000;
/** So long a search behind writes may cost more than others. */
const newEntriesEveryMs = 2000;

/**
 * Looks after the tables at the start and then again and again: makes the monthly partitions of the coming months, keeps the planner from
 * expecting that what is empty stays so, tells it what has grown, and sorts new entries of indexes in. A missing partition loses nothing, because its rows go to the default
 * partition. So a failure is logged and tried again, and nobody waits for it.
 */
export function keepTables({ database, log, timers = systemTimers }: { database: StatementRunner; log: Log; timers?: Timers }): {
	close(): Promise<void>;
} {
	const means = { failure: 'the tables could not be looked after', level: 'warn', log, timers } as const;
	const partitions = watch({
		...means,
		everyMs: partitionsEveryMs,
		look: async () => {
			const [row] = await database.run(ensurePartitions, []);
			if (row?.[0] !== '0') log.info({ partitions: Number(row?.[0]) }, 'monthly partitions were made');
			await database.run(forgetEmptyTables, []);
		},
	});
	const statistics = watch({
		...means,
		everyMs: statisticsEveryMs,
		look: async () => {
			await database.run(analyzeGrownTables, []);
		},
	});
	const newEntries = watch({
		...means,
		failure: 'the new entries of indexes could not be sorted in',
		everyMs: newEntriesEveryMs,
		look: async () => {
			await database.run(sortInNewEntries, []);
		},
	});
	return {
		async close() {
			await Promise.all([partitions.close(), statistics.close(), newEntries.close()]);
		},
	};
}
