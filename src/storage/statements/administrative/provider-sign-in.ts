import type { Statement } from '../../statement.ts';
import { afterBegin, credential, endOld } from './sign-in.ts';

/** Statements for people who sign in by the network's OIDC provider. An account belongs to one subject of one issuer. */

/** Takes the account of the subject `$2` of the issuer `$1`. */
export const takeProviderAccount: Statement = {
	name: 'take_provider_account',
	text: `
select u.id, u.email, u.active, u.role, u.all_sites
from app_user u where u.provider_issuer = $1 and u.provider_subject = $2
for update`,
};

/**
 * Gives the account `$3` to the subject `$2` of the issuer `$1`, if it waits for one. An account that is local, or has a subject, is never
 * given away.
 */
export const bindProviderAccount: Statement = {
	name: 'bind_provider_account',
	text: `
update app_user set provider_issuer = $1, provider_subject = $2
where email = $3 and sign_in = 'provider' and provider_subject is null`,
};

/** Adds the account `$4`, with the e-mail address `$3`. Adds none if the address is taken. */
export const addProviderAccount: Statement = {
	name: 'add_provider_account',
	text: `
insert into app_user (id, email, role, active, created_at, sign_in, provider_issuer, provider_subject)
values ($4, $3, 'auditor', true, now(), 'provider', $1, $2)
on conflict do nothing`,
};

/** The role and sites of the groups `$1`, one row for each mapping. */
export const readGroups: Statement = {
	name: 'read_sign_in_groups',
	text: `
select g.role, g.all_sites, coalesce((select json_agg(s.site_id order by s.site_id) from sign_in_group_site s where s.group_id = g.id), '[]')
from sign_in_group g where g.name = any ($1::text[])`,
};

export const readMembership: Statement = {
	name: 'read_membership',
	text: `select coalesce(json_agg(m.site_id order by m.site_id), '[]') from site_member m where m.user_id = $1`,
};

export const setReach: Statement = { name: 'set_reach', text: 'update app_user set role = $2, all_sites = $3 where id = $1' };

export const leaveSites: Statement = {
	name: 'leave_sites',
	text: 'delete from site_member where user_id = $1 and not site_id = any ($2::uuid[])',
};

export const joinSites: Statement = {
	name: 'join_sites',
	text: 'insert into site_member (user_id, site_id) select $1, s.id from unnest($2::uuid[]) as s (id) on conflict do nothing',
};

/**
 * Begins a session `$1` of the user `$2` from `$3`, which is the session `$4` of the provider. It deletes sessions that ended by age (`$5`,
 * `$6` ms).
 */
export const beginProviderSession: Statement = {
	name: 'begin_provider_session',
	text: `
with ${endOld}, begun as (
	insert into admin_session (digest, user_id, credential, began_at, seen_at, source, provider_session)
	select $1, u.id, ${credential}, now(), now(), $3, $4
	from app_user u
	where u.id = $2 and u.active and u.sign_in = 'provider'
	returning user_id
), ${afterBegin}`,
};

/** Ends the sessions of the subject `$2` of the issuer `$1`, or only those of the session `$3` of the provider. */
export const endProviderSessions: Statement = {
	name: 'end_provider_sessions',
	text: `
with ended as (
	delete from admin_session s using app_user u
	where u.id = s.user_id and u.provider_issuer = $1 and ($2::text is null or u.provider_subject = $2)
		and ($3::text is null or s.provider_session = $3)
	returning u.email
)
select distinct email from ended`,
};

/** Ends all sessions of accounts of the provider, because their groups may mean something else now. */
export const endAllProviderSessions: Statement = {
	name: 'end_all_provider_sessions',
	text: `delete from admin_session s using app_user u where u.id = s.user_id and u.sign_in = 'provider'`,
};
