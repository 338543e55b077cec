import { Migration } from '@mikro-orm/migrations';

/**
 * Remembers the links by which people open a study in another viewer: whoever has the token of a link may read this study until the time is
 * over. The database has digests of tokens only. Locks: none beyond those of a new table.
 */
export class ViewerTokens extends Migration {
	override up(): void {
		this.addSql(`
			create table viewer_token (
				digest bytea primary key,
				site_id uuid not null references site,
				study_uid text not null,
				actor text not null,
				expires_at timestamptz not null
			);
			create index viewer_token_site on viewer_token (site_id, expires_at);
		`);
	}
}
