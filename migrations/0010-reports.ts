import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the columns by which messages and studies find the reports of a site. Locks: `add column` takes an exclusive lock for a moment and
 * rewrites nothing; the indexes are built while writes of reports wait, about a second for a million rows.
 */
export class Reports extends Migration {
	override up(): void {
		this.addSql(reports);
		this.addSql(state);
	}
}

const reports = `
-- The order that a message reported on; item_key tells the reports of one order apart. Not unique: a merge may bring two together.
alter table diagnostic_report add column order_key text;
-- The study that it names, which may come later, or never.
alter table diagnostic_report add column study_uid text;
-- Numbers that find a study without its UID: the accession number, and the filler's order number, which often is the same.
alter table diagnostic_report add column accession_number text;
alter table diagnostic_report add column filler_number text;
create index diagnostic_report_order on diagnostic_report (site_id, order_key) where order_key is not null;
create index diagnostic_report_study on diagnostic_report (site_id, study_uid) where study_uid is not null;
create index diagnostic_report_accession on diagnostic_report (site_id, accession_number) where accession_number is not null;
create index diagnostic_report_filler on diagnostic_report (site_id, filler_number) where filler_number is not null;
`;

/** See 0007-statistics: what the planner shall take for granted until the first ANALYZE. */
const state = `
do $$
begin
	if current_setting('server_version_num')::integer >= 180000 then
		perform pg_restore_attribute_stats(
			'schemaname', current_schema()::text, 'relname', 'diagnostic_report', 'attname', k.name,
			'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', k.different)
		from (values ('order_key', -0.8::real), ('study_uid', -0.8::real), ('accession_number', -0.8::real), ('filler_number', -0.8::real))
			as k (name, different)
		where not exists (select 1 from pg_stats s
			where s.schemaname = current_schema() and s.tablename = 'diagnostic_report' and s.attname = k.name);
	end if;
end
$$;
`;
