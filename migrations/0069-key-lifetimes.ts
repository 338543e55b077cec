import { Migration } from '@mikro-orm/migrations';

/**
 * API keys can end at a time, be limited to scopes, and be followed by another key. Null stands for what every stored key is: it never ends,
 * has all scopes, and nothing follows it. Release 0.1.0 does not know these columns: as long as one of its nodes runs, it takes an ended key
 * and permits everything.
 *
 * Locks: `api_key` exclusively, for a moment; nothing is rewritten.
 */
export class KeyLifetimes extends Migration {
	override up(): void {
		this.addSql(`
alter table api_key
	add column expires_at timestamptz,
	add column scopes text[] check (cardinality(scopes) > 0 and scopes <@ array['read', 'write', 'ingest', 'imaging']),
	add column replaced_by text references api_key (id);
`);
	}
}
