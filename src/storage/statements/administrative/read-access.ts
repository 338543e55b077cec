import { nilIdSql, type Statement } from '../../statement.ts';
import { clientSettings, keySettings, siteSettings } from './settings.ts';

/** Reads the data of the access directory over all sites, because the credential decides which site applies. */
export const readAccessVersion: Statement = {
	name: 'read_access_version',
	// A site that is closed for its move opens again when that time is over, without anybody's change.
	text: `
select v.version || coalesce((select string_agg(' ' || s.id, '' order by s.id) from site s where s.closed_until > now()), '')
from access_version v`,
};

/** While a site moves to another database its senders wait as if each were paused. */
const closing = `case when s.closed_until > now() then '{"paused": true}'::jsonb else '{}'::jsonb end`;

/** Every node polls the version and reads access again when it has changed. */
export const advanceAccessVersion: Statement = {
	name: 'advance_access_version',
	text: 'update access_version set version = version + 1',
};

/** Changes that must see each other come one after the other. */
export const lockAccessVersion: Statement = { name: 'lock_access_version', text: 'select version from access_version for update' };

export const readCursorKey: Statement = { name: 'read_cursor_key', text: 'select cursor_key from access_version' };

export const readApiKeys: Statement = {
	name: 'read_api_keys',
	text: `
select k.id, k.secret_hash, s.id, s.slug, ${siteSettings} || ${keySettings} || ${closing}, k.scopes, k.created_at, k.expires_at, k.replaced_by
from api_key k
join site s on s.id = k.site_id and s.active
join app_user u on u.id = k.owner_id and u.active
where k.revoked_at is null`,
};

/** The issuers of access tokens. Like a key, a row counts while its site and its owner are active. */
export const readTokenIssuers: Statement = {
	name: 'read_token_issuers',
	text: `
select i.id, s.id, s.slug, ${siteSettings} || ${closing}, i.issuer, i.audience, i.clients, i.jwks_url, i.token_endpoint, i.client_claim, i.scope_claim,
	i.site_claim, i.site_value, i.introspection_url, i.introspection_client, i.introspection_secret
from token_issuer i
join site s on s.id = i.site_id and s.active
join app_user u on u.id = i.owner_id and u.active
where i.active
order by i.id`,
};

/** All of them, because one that is disabled, or whose site is, still has its addresses; the last column tells whether both are active. */
export const readIntegrationClients: Statement = {
	name: 'read_integration_clients',
	text: `
select c.id, s.id, s.slug, ${siteSettings} || ${clientSettings} || ${closing}, c.protocols, c.allowed_ips, c.sending_application, c.sending_facility,
	c.created_at, c.calling_ae, c.grants, c.active and s.active
from integration_client c
join site s on s.id = c.site_id`,
};

export const readDicomSites: Statement = {
	name: 'read_dicom_sites',
	text: `
select s.id, s.slug, s.ae_title, exists (select from integration_client c where c.site_id = s.id and 'dicom' = any (c.protocols)),
	${siteSettings} || ${closing}
from site s
where s.active and s.ae_title is not null`,
};

/** The origins whose web pages may call, of all active sites together. */
export const readCrossOrigins: Statement = {
	name: 'read_cross_origins',
	text: `
select distinct origin
from site s, jsonb_array_elements_text(coalesce(s.settings -> 'cors_origins', '[]')) origin
where s.active`,
};

/** The active sites, with limits of their own where they have any. */
export const readSites: Statement = {
	name: 'read_sites',
	text: `
select s.id, s.slug, s.waiting_max, s.associations_max
from site s
where s.active`,
};

/** The sites that are served from another database now: their slug, where that is, and since when. */
export const readMovedSites: Statement = {
	name: 'read_moved_sites',
	text: `
select s.id, s.slug, s.move_peer, s.moved_at
from site s
where s.move_state = 'left'`,
};

/** The sites that have loaded definitions, each with the number of their state. */
export const readDefinitionVersions: Statement = {
	name: 'read_definition_versions',
	text: `
select s.id, s.definitions_version::text
from site s
where s.active and s.definitions_version > 0`,
};

export const readRemoteAes: Statement = {
	name: 'read_remote_aes',
	text: `
select r.site_id, r.title, r.host, r.port, r.tls
from remote_ae r
join site s on s.id = r.site_id and s.active`,
};

export const noteKeyUse: Statement = {
	name: 'note_key_use',
	text: `
update api_key k set last_used_at = u.used_at
from unnest($1::text[], $2::timestamptz[]) as u (id, used_at)
where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.used_at)`,
};

export const insertAuditEvent: Statement = {
	name: 'insert_audit_event',
	text: `
insert into audit_event (id, recorded_at, site_id, actor, action, subject, source, detail, patients, studies)
values ($1, $2, coalesce($3::uuid, ${nilIdSql}), $4, $5, $6, $7, $8, $9::uuid[], $10::text[])`,
};
