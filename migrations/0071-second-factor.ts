import { Migration } from '@mikro-orm/migrations';

/**
 * Local accounts may have a second factor (RFC 6238): its secret, encrypted by a key that is not in the database, one that is being set up, the
 * last time step that was used, and digests of recovery codes. The policy says which roles need one; none does at first. Release 0.1.0 does
 * not know second factors: as long as one of its nodes runs, it lets people in by their password alone.
 *
 * Locks: `app_user` exclusively, for a moment; nothing is rewritten.
 */
export class SecondFactor extends Migration {
	override up(): void {
		this.addSql(`
alter table app_user
	add column second_factor bytea,
	add column second_factor_pending bytea,
	add column second_factor_step bigint,
	add column recovery_codes bytea[];
`);
		this.addSql(`
create table sign_in_policy (
	network boolean primary key default true check (network),
	second_factor_roles text[] not null default '{}' check (second_factor_roles <@ array['auditor', 'manager', 'administrator'])
);
`);
		this.addSql('insert into sign_in_policy default values;');
	}
}
