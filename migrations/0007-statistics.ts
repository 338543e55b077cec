import { Migration } from '@mikro-orm/migrations';

/**
 * States the statistics that the planner uses for a table until its first ANALYZE. Without statistics, two indexes that begin with the
 * site look the same to the planner. The plans of a new database, which live as long as their connections, would then walk a whole site
 * for one key. Before PostgreSQL 18 statistics cannot be stated; there the first autovacuum solves it.
 * Locks: a share lock on the statistics of each table, for a moment.
 */
export class Statistics extends Migration {
	override up(): void {
		this.addSql(assumedStatistics);
	}
}

/** Different values of a column: a number, or, when negative, the share of the rows (pg_stats.n_distinct). */
const differentValues = {
	site_id: 20,
	resource_type: 8,
	version: 5,
	status: 5,
	clinical_status: 5,
	gender: 4,
	code_value: 200,
	patient_id: -0.2,
	study_uid: -0.1,
	series_uid: -0.1,
};

/** Later migrations that make tables or change the type of a key state it again. */
export const assumedStatistics = `
do $$
begin
	if current_setting('server_version_num')::integer >= 180000 then
		perform pg_restore_attribute_stats(
			'schemaname', n.nspname::text, 'relname', c.relname::text, 'attname', a.attname::text,
			'inherited', false, 'null_frac', 0::real, 'avg_width', 16,
			'n_distinct', coalesce(('${JSON.stringify(differentValues)}'::jsonb ->> a.attname::text)::real, -1::real))
		from pg_class c
		join pg_namespace n on n.oid = c.relnamespace
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		where n.nspname = current_schema() and c.relkind = 'r'
			and exists (select 1 from pg_attribute s where s.attrelid = c.oid and s.attname = 'site_id')
			and exists (select 1 from pg_index i where i.indrelid = c.oid and a.attnum = any (i.indkey))
			and not exists (select 1 from pg_stats s where s.schemaname = n.nspname and s.tablename = c.relname and s.attname = a.attname);
	end if;
end
$$;
`;
