import { Migration } from '@mikro-orm/migrations';

/** Users sign in: their role, their sessions, and who guesses passwords. Locks: app_user, for a moment. */
export class SignIn extends Migration {
	override up(): void {
		this.addSql(signIn);
	}
}

const signIn = `
alter table app_user
	add column role text not null default 'manager' check (role in ('auditor', 'manager', 'administrator')),
	add column must_change_password boolean not null default false;
-- Passwords that are there were shown once by reset-password.
update app_user set
	role = case when administrator then 'administrator' else 'manager' end,
	must_change_password = password_hash is not null;
alter table app_user alter column role drop default;
-- drops: administrator, which the role says.
alter table app_user drop column administrator;

-- A person who is signed in. The token itself is with the browser alone.
create table admin_session (
	-- SHA-256 of the token.
	digest bytea primary key,
	user_id uuid not null references app_user (id),
	-- A digest of the password and role with which it began. The session ends when they change.
	credential bytea not null,
	began_at timestamptz not null,
	seen_at timestamptz not null,
	source text not null
);
create index admin_session_user on admin_session (user_id);

-- Wrong passwords, by account and by address. Both are counted by a keyed digest of 16 bits, so that guessing cannot fill the table.
create table sign_in_failure (
	kind text not null check (kind in ('account', 'address')),
	bucket integer not null check (bucket between 0 and 65535),
	failures integer not null,
	failed_at timestamptz not null,
	locked_until timestamptz not null,
	primary key (kind, bucket)
);
`;
