import { Migration } from '@mikro-orm/migrations';

/**
 * Stores the time at which a one-time password was made, because it expires. The time of existing ones begins now. Locks: app_user, for
 * a moment.
 */
export class OneTimePasswords extends Migration {
	override up(): void {
		this.addSql(oneTimePasswords);
	}
}

const oneTimePasswords = `
alter table app_user add column one_time_since timestamptz;
update app_user set one_time_since = now() where must_change_password;
-- drops: must_change_password, which one_time_since says.
alter table app_user drop column must_change_password;
`;
