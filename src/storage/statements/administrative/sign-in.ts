import { nilIdSql, type Statement } from '../../statement.ts';

/** Statements for signing in, and against guessed passwords. A user belongs to no site, or to several. */

/** Identifies the role, and the password with the second factor or the subject of the provider, with which a session began; `u` is the user. */
export const credential = `sha256(convert_to(u.role || ' ' ||
	case u.sign_in when 'provider' then 'provider ' || u.provider_issuer || ' ' || u.provider_subject
		else u.password_hash || coalesce(' ' || encode(u.second_factor, 'hex'), '') end, 'UTF8'))`;

/** The policy requires a second factor of the role of the user `u`, who signs in with a password. */
export const requiresSecondFactor = `(u.sign_in = 'local' and exists (
	select from sign_in_policy p where u.role = any (p.second_factor_roles)))`;

/** The bucket of a counter, `$1` its kind and `$2` its name: 16 bits that nobody outside can compute. */
const bucket = `
select get_byte(d, 0) << 8 | get_byte(d, 1) as bucket
from (select sha256(cursor_key || convert_to($1 || ' ' || $2, 'UTF8')) as d from access_version) k`;

/**
 * Counts an attempt unless its counter is locked: from the `$3`th failure on for `$6` ms, doubling up to `$4` ms. A failure is forgotten
 * after
 * `$5` ms without another. Returns whether it was counted, and the seconds of the lock.
 */
export const countSignIn: Statement = {
	name: 'count_sign_in',
	text: `
insert into sign_in_failure as f (kind, bucket, failures, failed_at, locked_until)
select $1, b.bucket, 1, now(), now() + case when 1 >= $3::integer then make_interval(secs => $6::float8 / 1000) else interval '0' end
from (${bucket}) b
on conflict (kind, bucket) do update set (failures, failed_at, locked_until) = (
	select n, now(), now() + case
		when n < $3::integer then interval '0'
		else make_interval(secs => least($6::float8 * power(2, least(n - $3::integer, 30)), $4::float8) / 1000)
	end
	from (
		select least(greatest(0, f.failures - floor(extract(epoch from now() - f.failed_at) * 1000 / $5::float8)::integer) + 1, 1000) as n
	) counted
	where f.locked_until <= now()
	union all
	select f.failures, f.failed_at, f.locked_until where f.locked_until > now()
)
returning failed_at = now(), ceil(extract(epoch from locked_until - now()))::integer`,
};

/** Takes back an attempt that was no guess, and all earlier ones if `$3` is true. */
export const forgiveSignIn: Statement = {
	name: 'forgive_sign_in',
	text: `
update sign_in_failure f set failures = case when $3::boolean then 0 else greatest(0, f.failures - 1) end, locked_until = now()
from (${bucket}) b
where f.kind = $1 and f.bucket = b.bucket`,
};

/**
 * Reads the account `$1` and a proof that the browser `$2` has signed in before. Nobody can make the proof without reading the database.
 */
export const readBrowserProof: Statement = {
	name: 'read_browser_proof',
	text: `
select encode(sha256(k.cursor_key || sha256(k.cursor_key || convert_to('browser ' || $2 || ' ' || u.id, 'UTF8'))), 'hex')
from access_version k, app_user u
where u.email = $1`,
};

/** Reads the account `$1`, the age in ms of a one-time password, the role, and the sealed second factor. */
export const readAccount: Statement = {
	name: 'read_account',
	text: `
select u.id, u.email, case when u.active and u.sign_in = 'local' then u.password_hash end,
	extract(epoch from now() - u.one_time_since) * 1000, u.role, encode(u.second_factor, 'hex')
from app_user u where u.email = $1`,
};

/** Deletes sessions that ended by age: `$5` ms without use, or `$6` ms in all. */
export const endOld = `old as (
	delete from admin_session
	where seen_at < now() - make_interval(secs => $5::float8 / 1000) or began_at < now() - make_interval(secs => $6::float8 / 1000)
)`;

/** Notes the sign-in at the user of the session that `begun` returns. */
export const afterBegin = `
noted as (
	update app_user u set signed_in_at = now() from begun where u.id = begun.user_id
)
select user_id from begun`;

/**
 * Begins a session `$1` of the user `$2`, whose password must still be `$3`, from `$4`. It deletes sessions that ended by age (`$5`, `$6`
 * ms).
 */
export const beginSession: Statement = {
	name: 'begin_session',
	text: `
with ${endOld}, begun as (
	insert into admin_session (digest, user_id, credential, began_at, seen_at, source)
	select $1, u.id, ${credential}, now(), now(), $4
	from app_user u
	where u.id = $2 and u.active and u.password_hash = $3
	returning user_id
), ${afterBegin}`,
};

/** Session `s` is valid: not too old (`$2` idle, `$3` in all, ms), and its user is not disabled and has the same password and role. */
const holds = `u.id = s.user_id and u.active and s.credential = ${credential}
	and s.seen_at > now() - make_interval(secs => $2::float8 / 1000) and s.began_at > now() - make_interval(secs => $3::float8 / 1000)`;

/** The user `u` may see all sites. A user with no site sees nothing. */
const isOfAll = `(u.role = 'administrator' or u.role = 'auditor' and u.all_sites)`;
const isMember = '(exists (select from site_member m where m.site_id = t.id and m.user_id = u.id))';

/** Reads the user of the session `$1` and notes that they were seen; the sites are JSON, with whether they are all. */
export const readSession: Statement = {
	name: 'read_session',
	text: `
with held as (
	select u.id, u.email, u.role, u.all_sites, u.one_time_since is not null as must_change_password, u.sign_in, s.seen_at,
		u.second_factor is null and ${requiresSecondFactor} as must_set_second_factor
	from admin_session s join app_user u on ${holds}
	where s.digest = $1
), seen as (
	update admin_session s set seen_at = now() from held
	where s.digest = $1 and held.seen_at < now() - make_interval(secs => $2::float8 / 10000)
)
select id, email, role, must_change_password, must_set_second_factor, sign_in, coalesce((
	select json_agg(json_build_object('slug', t.slug, 'name', t.name) order by t.slug)
	from site t
	where ${isOfAll} or ${isMember}
), '[]'), ${isOfAll}
from held u`,
};

/** Returns those of the sessions `$1`, in hexadecimal, that are still valid, with the slugs of their sites; `*` means all. */
export const heldSessions: Statement = {
	name: 'held_sessions',
	text: `
select encode(s.digest, 'hex'), case
	when ${isOfAll} then '*'
	else (select coalesce(string_agg(t.slug, ' ' order by t.slug), '') from site t where ${isMember})
end
from unnest($1::text[]) d
join admin_session s on s.digest = decode(d, 'hex')
join app_user u on ${holds}`,
};

/** Lists the sessions that are valid, of all users or of the user `$1`, the one used last first; the `$4` newest. */
export const listSignInSessions: Statement = {
	name: 'list_sign_in_sessions',
	text: `
select u.email, s.began_at, s.seen_at, s.source
from admin_session s
join app_user u on ${holds}
where $1::text is null or u.email = $1
order by s.seen_at desc, s.digest
limit $4`,
};

/** Ends the sessions of a disabled user for good, so that they are not valid when the user is enabled again. */
export const endSessionsOf: Statement = { name: 'end_sessions_of', text: 'delete from admin_session where user_id = $1' };

/** Unlocks the account `$1` after wrong passwords. */
export const unlockAccount: Statement = {
	name: 'unlock_account',
	text: `
update sign_in_failure f set failures = 0, locked_until = now()
from (
	select kind, sha256(cursor_key || convert_to(kind || ' ' || $1, 'UTF8')) as digest
	from access_version, unnest(array['account', 'change']) as kind
) k
where f.kind = k.kind and f.bucket = (get_byte(k.digest, 0) << 8 | get_byte(k.digest, 1))`,
};

export const endSession: Statement = { name: 'end_session', text: 'delete from admin_session where digest = $1' };

/** The columns that a change of a credential returns of its user. */
export const columnsOfCredential = 'u.id, u.role, u.password_hash, u.sign_in, u.provider_issuer, u.provider_subject, u.second_factor';

/** Ends the sessions of the user that `changed` returns, except the one of the caller, which gets the new credential; and audits the change. */
export const afterChange = (digest: string, [id, actor, source]: readonly [string, string, string], action: string) => `
ended as (
	delete from admin_session s using changed where s.user_id = changed.id and s.digest <> ${digest}
), kept as (
	update admin_session s set credential = ${credential} from changed u where s.digest = ${digest} and s.user_id = u.id
), audited as (
	insert into audit_event (id, recorded_at, site_id, actor, action, subject, source, detail)
	select ${id}, now(), ${nilIdSql}, ${actor}, '${action}', ${actor}, ${source}, '{}' from changed
)
select id from changed`;

/**
 * Changes the password `$2` of the account `$1` to `$3` for its user. Other sessions than `$4` end, and the password need not be changed
 * again.
 */
export const changePassword: Statement = {
	name: 'change_password',
	text: `
with changed as (
	update app_user u set password_hash = $3, one_time_since = null
	where u.id = $1 and u.active and u.password_hash = $2
	returning ${columnsOfCredential}
), ${afterChange('$4', ['$5', '$6', '$7'], 'user.change-password')}`,
};

/** Adds the first administrator if there is no user yet. Two nodes that start together add only one. */
export const addFirstAdministrator: Statement = {
	name: 'add_first_administrator',
	text: `
with added as (
	insert into app_user (id, email, password_hash, one_time_since, role, active, created_at)
	select $1, $2, $3, now(), 'administrator', true, now()
	where not exists (select from app_user)
	on conflict do nothing
	returning email
), audited as (
	insert into audit_event (id, recorded_at, site_id, actor, action, subject, source, detail)
	select $4, now(), ${nilIdSql}, 'first start', 'user.add', email, '', '{"role": "administrator"}' from added
)
select email from added`,
};

/** Gives the first administrator another password, if nobody signed in by the first one and nobody else gave the account one. */
export const renewFirstPassword: Statement = {
	name: 'renew_first_password',
	text: `
with renewed as (
	update app_user set password_hash = $2, one_time_since = now()
	where email = $1 and active and one_time_since is not null and not exists (select from app_user other where other.email <> $1)
		and not exists (
			select from audit_event e
			where e.site_id = ${nilIdSql} and (
				(e.subject = $1 and e.action = 'user.reset-password' and e.actor <> 'first start') or (e.actor = $1 and e.action = 'user.sign-in')
			)
		)
	returning email
), audited as (
	insert into audit_event (id, recorded_at, site_id, actor, action, subject, source, detail)
	select $3, now(), ${nilIdSql}, 'first start', 'user.reset-password', email, '', '{}' from renewed
)
select email from renewed`,
};

export const countUsers: Statement = { name: 'count_users', text: 'select count(*) from app_user' };
