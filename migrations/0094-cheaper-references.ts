import { Migration } from '@mikro-orm/migrations';

/**
 * The text of a reference's term took a millisecond: PostgreSQL spends it on a pattern with bounded repetitions and parts. A report has such a
 * reference, so half of what the index of elements cost was this. The pattern has neither now, and its texts are the same.
 *
 * Locks: none that waits. Nothing is written again.
 */
export class CheaperReferences extends Migration {
	override up(): void {
		this.addSql(String.raw`
create or replace function tributary_reference_text(scope text, reference text) returns text language sql immutable strict parallel safe
return case
	when reference ~ '^[A-Z][A-Za-z]+/[A-Za-z0-9.-]+(/_history/[^/]+)?$'
		and length(split_part(reference, '/', 1)) <= 64 and length(split_part(reference, '/', 2)) <= 64
	then scope || E'\x01r' || split_part(reference, '/', 1) || '/' || tributary_row_id(split_part(reference, '/', 2))::text
	else scope || E'\x01u' || reference
end;
`);
	}
}
