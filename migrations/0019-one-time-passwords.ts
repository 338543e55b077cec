import { Migration } from '@mikro-orm/migrations';

/**
 * That a password is for one use is said by when it was made, since it expires; those that are there already begin now. Locks: app_user,
 * for a moment.
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
