import { Migration } from '@mikro-orm/migrations';

/**
 * Lets a site move to another database. `move_state` says where it stands: `leaving` while it is copied, `left` when it is served elsewhere,
 * `arriving` for the copy that is not served yet; null for all others. `closed_until` keeps its senders waiting, and that of its turn keeps every
 * writer out, on any node. It ends by itself when whoever moves the site does not renew it.
 *
 * Locks: `site` and `site_turn` exclusively, for a moment; nothing is rewritten. An older release leaves the columns as they are and does not know
 * what they mean, so a site is moved when every node runs this one.
 */
export class SiteMoves extends Migration {
	override up(): void {
		this.addSql(`
			alter table site
				add column move_state text check (move_state in ('leaving', 'left', 'arriving')),
				add column move_peer text,
				add column moved_at timestamptz,
				add column closed_until timestamptz;
			create index site_closed on site (closed_until) where closed_until is not null;
			alter table site_turn add column closed_until timestamptz;
		`);
		// The code is of no class that PostgreSQL uses, so it is nothing that a message could be refused for (storage/sqlstate).
		this.addSql(`
			create function tributary_turn_closed() returns bigint language plpgsql as $$
			begin
				raise exception using errcode = 'TR001', message = 'the site is being moved to another database';
			end
			$$;
		`);
	}
}
