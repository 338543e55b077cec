import { Migration } from '@mikro-orm/migrations';

/** Since when a one-time password can be used: it expires. Those that are there already begin now. Locks: app_user, for a moment. */
export class OneTimePasswords extends Migration {
	override up(): void {
		this.addSql(oneTimePasswords);
	}
}

const oneTimePasswords = `
alter table app_user add column one_time_since timestamptz;
update app_user set one_time_since = now() where must_change_password;
`;
