import { z } from 'zod';
import { createApiKey, digestSecret } from '#access/api-key.ts';
import { noSettings } from '#record/settings/settings.ts';
import { ApiKey, type EntityManager, type Site, User } from '#storage/entities/index.ts';
import { type AdministrationContext, AdministrationError, change } from './context.ts';
import { instant } from './schemas.ts';
import { applySettings, inForce, ownSettings, settingInputs, settingRecords, settingsInForce } from './settings.ts';
import { siteBySlug } from './sites.ts';
import { userByEmail } from './users.ts';
import { ofVisibleSites } from './visible-sites.ts';

const label = z.string().max(200);

export const createKeyInput = z.strictObject({
	site: z.string(),
	owner: z.string(),
	label: label.default(''),
	...settingInputs('key'),
});
export const setKeyInput = z.strictObject({ id: z.string(), label: label.optional(), ...settingInputs('key') });

export const createdKey = z.strictObject({
	id: z.string(),
	key: z.string().describe('the complete key, shown only once'),
	site: z.string(),
	owner: z.string(),
	label: z.string(),
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
		const { id, secret, key } = createApiKey();
		const created = em.create(ApiKey, {
			id,
			site,
			owner,
			label: input.label,
			secretHash: digestSecret(secret),
			settings: noSettings,
			createdAt: new Date(context.nowMs()),
			lastUsedAt: null,
			revokedAt: null,
		});
		applySettings('key', created, input);
		const after = { site: site.slug, owner: owner.email, label: input.label, ...created.settings };
		return [
			{ id, key, site: site.slug, owner: owner.email, label: input.label },
			{ action: 'key.create', subject: id, siteId: site.id, after },
		];
	});
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
	return (await context.em.fork().find(ApiKey, ofVisibleSites(context), options)).map(record);
}

async function keyById(em: EntityManager, id: string): Promise<ApiKey> {
	const key = await em.findOne(ApiKey, { id }, { populate: ['site', 'owner'] });
	if (!key) throw new AdministrationError(`there is no key '${id}'`, 'not-found');
	return key;
}

export async function showKey({ em }: AdministrationContext, id: string): Promise<ShownKey> {
	return shown(await keyById(em.fork(), id));
}

function shown(key: ApiKey): ShownKey {
	return { ...record(key), settings: inForce('key', key, key.site) };
}

function record(key: ApiKey): KeyRecord {
	return {
		id: key.id,
		prefix: `trb_${key.id}`,
		site: key.site.slug,
		owner: key.owner.email,
		label: key.label,
		created_at: key.createdAt.toISOString(),
		last_used_at: key.lastUsedAt?.toISOString() ?? null,
		revoked_at: key.revokedAt?.toISOString() ?? null,
		...ownSettings('key', key),
	};
}

export function setKey(context: AdministrationContext, input: z.infer<typeof setKeyInput>): Promise<ShownKey> {
	return change(context, async (em) => {
		const key = await keyById(em, input.id);
		const before = record(key);
		if (input.label !== undefined) key.label = input.label;
		applySettings('key', key, input);
		return [shown(key), { action: 'key.set', subject: key.id, siteId: key.site.id, before, after: record(key) }];
	});
}

export function revokeKey(context: AdministrationContext, id: string): Promise<KeyRecord> {
	return change(context, async (em) => {
		const key = await keyById(em, id);
		const before = record(key);
		key.revokedAt ??= new Date(context.nowMs());
		const after = record(key);
		return [after, { action: 'key.revoke', subject: id, siteId: key.site.id, before, after }];
	});
}
