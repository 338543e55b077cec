import { Migration } from '@mikro-orm/migrations';

/**
 * People sign in by an OIDC provider. `sign_in` says which way an account takes; a subject of the provider has one account. `sign_in_group`
 * maps groups of the provider to a role and sites. Stored accounts are local ones. Release 0.1.0 does not let accounts of the provider in,
 * because they have no password.
 *
 * Locks: `app_user` and `admin_session` exclusively, for a moment; nothing is rewritten.
 */
export class SignInByProvider extends Migration {
	override up(): void {
		this.addSql(`
alter table app_user
	add column sign_in text not null default 'local' check (sign_in in ('local', 'provider')),
	add column provider_issuer text,
	add column provider_subject text;
`);
		this.addSql('create unique index app_user_provider on app_user (provider_issuer, provider_subject);');
		this.addSql('alter table admin_session add column provider_session text;');
		this.addSql(`
create table sign_in_group (
	id uuid primary key,
	name text not null unique,
	role text not null check (role in ('auditor', 'manager', 'administrator')),
	all_sites boolean not null default false check (not all_sites or role = 'auditor'),
	created_at timestamptz not null default now()
);
`);
		this.addSql(`
create table sign_in_group_site (
	group_id uuid not null references sign_in_group (id) on delete cascade,
	site_id uuid not null references site (id),
	primary key (group_id, site_id)
);
`);
	}
}
