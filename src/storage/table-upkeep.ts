import type { Log } from '#core/log.ts';
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

/** Partitions are made months ahead, so how often is of no consequence. */
const everyMs = 3_600_000;

/**
 * Looks after the tables at the start and every hour: makes the monthly partitions of the coming months, and keeps the planner from
 * expecting that what is empty stays so. A missing partition loses nothing, because its rows go to the default partition. So a failure is
 * logged and tried again, and nobody waits for it.
 */
export function keepTables({ database, log }: { database: StatementRunner; log: Log }): { close(): Promise<void> } {
	let last = Promise.resolve();
	const keep = async () => {
		try {
			const [row] = await database.run(ensurePartitions, []);
			if (row?.[0] !== '0') log.info({ partitions: Number(row?.[0]) }, 'monthly partitions were made');
			await database.run(forgetEmptyTables, []);
		} catch (error) {
			log.warn({ err: error }, 'the tables could not be looked after; tried again in an hour');
		}
	};
	const begin = () => {
		last = keep();
	};
	begin();
	const timer = setInterval(begin, everyMs).unref();
	return {
		async close() {
			clearInterval(timer);
			await last;
		},
	};
}
