import { z } from 'zod';
import { createApiKey, digestSecret, prefixOf } from '#access/api-key.ts';
import { endsSoon, hasEnded, type KeyLife } from '#access/key-life.ts';
import { keyScopes } from '#record/key-scopes.ts';
import { noSettings } from '#record/settings/settings.ts';
import { ApiKey, type EntityManager, type Site, User } from '#storage/entities/index.ts';
import { type AdministrationContext, AdministrationError, change } from './context.ts';
import { instant } from './schemas.ts';
import { applySettings, inForce, ownSettings, settingInputs, settingRecords, settingsInForce } from './settings.ts';
import { siteBySlug } from './sites.ts';
import { end, endOf, span, spanMs } from './spans.ts';
import { userByEmail } from './users.ts';
import { ofVisibleSites } from './visible-sites.ts';

const label = z.string().max(200);
const ending = 'an instant, the last day (UTC), or a time from now such as 90d';
const limits = `the key is limited to these: ${keyScopes.join(', ')}`;

export const createKeyInput = z.strictObject({
	site: z.string(),
	owner: z.string(),
	label: label.default(''),
	expires: end.optional().describe(`when the key ends: ${ending}; without it, never`),
	scopes: z.array(z.enum(keyScopes)).min(1).optional().describe(`${limits}; without it, it has all`),
	...settingInputs('key'),
});
export const setKeyInput = z.strictObject({
	id: z.string(),
	label: label.optional(),
	expires: end.or(z.literal('')).optional().describe(`when the key ends: ${ending}; an empty text: never`),
	scopes: z.array(z.enum(keyScopes)).optional().describe(`${limits}; an empty list removes the limits`),
	...settingInputs('key'),
});
export const rotateKeyInput = z.strictObject({
	id: z.string(),
	overlap: span.default('7d').describe('how long the old key stays valid beside the new one: 7d, 12h, 0m'),
	expires: end.optional().describe(`when the new key ends: ${ending}; without it, after as long a life as the old one was given`),
});

/** Members of keys that have them. */
const lifetime = {
	expires_at: instant.optional().describe('it is refused from this instant on'),
	scopes: z.array(z.enum(keyScopes)).optional().describe('it is limited to these'),
};

export const createdKey = z.strictObject({
	id: z.string(),
	key: z.string().describe('the complete key, shown only once'),
	site: z.string(),
	owner: z.string(),
	label: z.string(),
	...lifetime,
});
export const rotatedKey = createdKey.extend({
	replaces: z.string().describe('the id of the old key'),
	replaced_ends_at: instant.describe('the old key is refused from this instant on'),
});
export const keyRecord = z.strictObject({
	id: z.string(),
	prefix: z.string(),
	site: z.string(),
	owner: z.string(),
	label: z.string(),
	created_at: instant,
	last_used_at: instant.nullable(),
	revoked_at: instant.nullable(),
	...lifetime,
	replaced_by: z.string().optional().describe('the id of the key that follows it'),
	warning: z.string().optional().describe('it soon expires, or has expired'),
	...settingRecords('key'),
});
type KeyRecord = z.infer<typeof keyRecord>;
/** The key with the values of its settings that hold. */
export const shownKey = keyRecord.extend({ settings: settingsInForce });
type ShownKey = z.infer<typeof shownKey>;

export function createKey(context: AdministrationContext, input: z.infer<typeof createKeyInput>): Promise<z.infer<typeof createdKey>> {
	return change(context, async (em) => {
		const site = await siteBySlug(em, input.site);
		const owner = await ownerOf(context, em, input.owner, site);
		if (!site.active || !owner.active) throw new AdministrationError('the site or the owner is disabled');
		const nowMs = context.nowMs();
		const expiresAt = input.expires === undefined ? null : endOf(input.expires, nowMs, 'expires');
		const scopes = input.scopes === undefined ? null : [...new Set(input.scopes)];
		const [created, key] = newKey(em, nowMs, { site, owner, label: input.label, settings: noSettings, expiresAt, scopes });
		applySettings('key', created, input);
		const after = { site: site.slug, owner: owner.email, label: input.label, ...lifetimeOf(created), ...created.settings };
		return [shownOnce(created, key), { action: 'key.create', subject: created.id, siteId: site.id, after }];
	});
}

type Given = Pick<ApiKey, 'site' | 'owner' | 'label' | 'settings' | 'expiresAt' | 'scopes'>;

/** Returns the row of a new key, and the key itself. */
function newKey(em: EntityManager, nowMs: number, given: Given): [ApiKey, string] {
	const { id, secret, key } = createApiKey();
	const created = em.create(ApiKey, {
		...given,
		...{ id, secretHash: digestSecret(secret), createdAt: new Date(nowMs), lastUsedAt: null, revokedAt: null, replacedBy: null },
	});
	return [created, key];
}

function shownOnce(created: ApiKey, key: string): z.infer<typeof createdKey> {
	const { id, site, owner, label } = created;
	return { id, key, site: site.slug, owner: owner.email, label, ...lifetimeOf(created) };
}

function lifetimeOf({ expiresAt, scopes }: Pick<ApiKey, 'expiresAt' | 'scopes'>): Pick<KeyRecord, 'expires_at' | 'scopes'> {
	return { ...(expiresAt && { expires_at: expiresAt.toISOString() }), ...(scopes && { scopes: scopes as (typeof keyScopes)[number][] }) };
}

/**
 * Gives a key a successor: another secret for the same owner, site, scopes and settings. Both are valid until the overlap is over, so that
 * those who use the key change it without a gap.
 */
export function rotateKey(context: AdministrationContext, input: z.infer<typeof rotateKeyInput>): Promise<z.infer<typeof rotatedKey>> {
	return change(context, async (em) => {
		const old = await keyById(em, input.id);
		const nowMs = context.nowMs();
		refuseEnded(old, nowMs);
		if (!old.site.active || !old.owner.active) throw new AdministrationError('the site or the owner is disabled');
		const before = record(old, nowMs);
		const { site, owner, label, settings, scopes } = old;
		const lifeMs = old.expiresAt && old.expiresAt.getTime() - old.createdAt.getTime();
		const sameLife = lifeMs ? new Date(nowMs + lifeMs) : null;
		const expiresAt = input.expires === undefined ? sameLife : endOf(input.expires, nowMs, 'expires');
		const [created, key] = newKey(em, nowMs, { site, owner, label, settings: { ...settings }, expiresAt, scopes: scopes && [...scopes] });
		const endMs = Math.min(nowMs + spanMs(input.overlap), old.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
		old.expiresAt = new Date(endMs);
		old.replacedBy = created.id;
		return [
			{ ...shownOnce(created, key), replaces: old.id, replaced_ends_at: old.expiresAt.toISOString() },
			{ action: 'key.rotate', subject: old.id, siteId: site.id, before, after: record(old, nowMs) },
		];
	});
}

function lifeOf({ createdAt, expiresAt = null, replacedBy }: ApiKey): KeyLife {
	return { createdAt, expiresAt, isReplaced: replacedBy !== null };
}

function refuseEnded(key: ApiKey, nowMs: number): void {
	const { revokedAt, replacedBy } = key;
	if (revokedAt) throw new AdministrationError('the key is revoked; create a new one');
	if (replacedBy) throw new AdministrationError(`the key has been rotated already; '${replacedBy}' follows it`);
	if (hasEnded(lifeOf(key), nowMs)) throw new AdministrationError('the key has expired; create a new one');
}

/** A caller without access to all sites does not learn whether a user of other sites exists. */
export async function ownerOf({ actor }: AdministrationContext, em: EntityManager, email: string, site: Site): Promise<User> {
	const isOfSite = ({ sites }: User) => sites.getItems().some(({ id }) => id === site.id);
	const owner =
		actor.sites === 'all' ? await userByEmail(em, email) : await em.findOne(User, { email: email.toLowerCase() }, { populate: ['sites'] });
	const mayOwn = owner !== null && (isOfSite(owner) || (actor.sites === 'all' && owner.role === 'administrator'));
	if (!mayOwn) throw new AdministrationError(`'${email.toLowerCase()}' is not a user of the site '${site.slug}'`, 'refused', 'owner');
	return owner;
}

/** Lists keys, newest first. */
export async function listKeys(context: AdministrationContext): Promise<KeyRecord[]> {
	const options = { populate: ['site', 'owner'], orderBy: { createdAt: 'desc', id: 'asc' } } as const;
	return (await context.em.fork().find(ApiKey, ofVisibleSites(context), options)).map((key) => record(key, context.nowMs()));
}

async function keyById(em: EntityManager, id: string): Promise<ApiKey> {
	const key = await em.findOne(ApiKey, { id }, { populate: ['site', 'owner'] });
	if (!key) throw new AdministrationError(`there is no key '${id}'`, 'not-found');
	return key;
}

export async function showKey({ em, nowMs }: AdministrationContext, id: string): Promise<ShownKey> {
	return shown(await keyById(em.fork(), id), nowMs());
}

function shown(key: ApiKey, nowMs: number): ShownKey {
	return { ...record(key, nowMs), settings: inForce('key', key, key.site) };
}

/** Expired keys stay in lists until they are revoked, so that people see why a system is refused. */
function warningOf(key: ApiKey, nowMs: number): string | undefined {
	const { expiresAt, revokedAt, replacedBy } = key;
	if (revokedAt || !expiresAt) return undefined;
	const life = lifeOf(key);
	if (hasEnded(life, nowMs)) return replacedBy ? 'it has ended after its rotation' : 'it has expired';
	if (replacedBy) return `it ends after its rotation, at ${expiresAt.toISOString()}`;
	return endsSoon(life, nowMs) ? `it expires soon, at ${expiresAt.toISOString()}` : undefined;
}

function record(key: ApiKey, nowMs: number): KeyRecord {
	const warning = warningOf(key, nowMs);
	return {
		id: key.id,
		prefix: prefixOf(key.id),
		site: key.site.slug,
		owner: key.owner.email,
		label: key.label,
		created_at: key.createdAt.toISOString(),
		last_used_at: key.lastUsedAt?.toISOString() ?? null,
		revoked_at: key.revokedAt?.toISOString() ?? null,
		...lifetimeOf(key),
		...(key.replacedBy && { replaced_by: key.replacedBy }),
		...(warning !== undefined && { warning }),
		...ownSettings('key', key),
	};
}

export function setKey(context: AdministrationContext, input: z.infer<typeof setKeyInput>): Promise<ShownKey> {
	return change(context, async (em) => {
		const key = await keyById(em, input.id);
		const nowMs = context.nowMs();
		const before = record(key, nowMs);
		if (input.label !== undefined) key.label = input.label;
		if (input.expires !== undefined) key.expiresAt = input.expires === '' ? null : endOf(input.expires, nowMs, 'expires');
		if (input.scopes !== undefined) key.scopes = input.scopes.length === 0 ? null : [...new Set(input.scopes)];
		applySettings('key', key, input);
		return [shown(key, nowMs), { action: 'key.set', subject: key.id, siteId: key.site.id, before, after: record(key, nowMs) }];
	});
}

export function revokeKey(context: AdministrationContext, id: string): Promise<KeyRecord> {
	return change(context, async (em) => {
		const key = await keyById(em, id);
		const nowMs = context.nowMs();
		const before = record(key, nowMs);
		key.revokedAt ??= new Date(nowMs);
		const after = record(key, nowMs);
		return [after, { action: 'key.revoke', subject: id, siteId: key.site.id, before, after }];
	});
}
