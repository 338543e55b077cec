import { Migration } from '@mikro-orm/migrations';

/**
 * Adds a column that states whether an auditor sees all sites; before, an auditor without sites did. Wrong passwords of a known browser
 * are counted for that browser. Locks: app_user and sign_in_failure, for a moment.
 */
export class Reach extends Migration {
	override up(): void {
		this.addSql(reach);
	}
}

const reach = `
alter table app_user
	add column all_sites boolean not null default false,
	-- An administrator is of all sites by the role.
	add check (not all_sites or role = 'auditor');

alter table sign_in_failure drop constraint sign_in_failure_kind_check;
alter table sign_in_failure add constraint sign_in_failure_kind_check check (kind in ('account', 'address', 'browser', 'change'));
`;
