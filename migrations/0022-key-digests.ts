import { Migration } from '@mikro-orm/migrations';
import { assumedStatistics } from './0007-statistics.ts';

/**
 * Keeps order, item, visit and document keys as 16-byte digests of their texts. See docs/decisions on keys and monthly partitions.
 *
 * Locks: each table is rewritten with its indexes and takes no reads and no writes meanwhile, about a minute for ten million rows.
 * The texts themselves are not kept: the resource states them.
 */
export class KeyDigests extends Migration {
	override up(): void {
		this.addSql(digest);
		for (const [table, columns] of Object.entries(keys)) {
			const changes = columns.map((column) => `alter column ${column} type uuid using key_digest(${column})`);
			this.addSql(`alter table ${table} ${changes.join(', ')}`);
		}
		this.addSql('drop function key_digest(text)');
		this.addSql(assumedStatistics);
		this.addSql(monthPartition);
	}
}

const keys = {
	observation: ['order_key', 'item_key'],
	diagnostic_report: ['order_key', 'item_key'],
	encounter: ['visit_key'],
	condition: ['item_key'],
	allergy_intolerance: ['item_key'],
	procedure: ['item_key'],
	document_reference: ['document_key', 'set_key', 'replaces_key', 'item_key'],
	document_entry: ['item_key'],
};

const digest = `
create function key_digest(key text) returns uuid language sql immutable strict parallel safe as
$$ select encode(substr(sha256(convert_to(key, 'UTF8')), 1, 16), 'hex')::uuid $$;
`;

/** A month begins with a partition of which the planner knows nothing: it takes for granted what it does of a new database. */
const monthPartition = `
create function assume_statistics() returns void language plpgsql as $assumed$
begin
	execute $text$ ${assumedStatistics} $text$;
end $assumed$;

create or replace function ensure_month_partitions(ahead integer default 2) returns integer language plpgsql set lock_timeout = '2s' as $$
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
	if made > 0 then perform assume_statistics(); end if;
	return made;
end $$;
select assume_statistics();
`;
