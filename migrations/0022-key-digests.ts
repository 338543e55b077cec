import { Migration } from '@mikro-orm/migrations';
import { assumedStatistics } from './0007-statistics.ts';
import { ensureMonthPartitions } from './0020-monthly-partitions.ts';

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

${ensureMonthPartitions('create or replace function', 'if made > 0 then perform assume_statistics(); end if;\n\t')}
select assume_statistics();
`;
