import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the time of the last sign-in to each user. It is taken from the sessions of those who are signed in now; for all others it is recorded
 * at their next sign-in.
 *
 * Locks: `app_user` exclusively, for a moment; nothing is rewritten. An older release leaves the column as it is.
 */
export class LastSignIn extends Migration {
	override up(): void {
		this.addSql('alter table app_user add column signed_in_at timestamptz;');
		this.addSql(
			'update app_user u set signed_in_at = s.at from (select user_id, max(began_at) as at from admin_session group by user_id) s where s.user_id = u.id;',
		);
	}
}
