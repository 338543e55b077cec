import { z } from 'zod';
import { createApiKey, digestSecret } from '#access/api-key.ts';
import { ApiKey } from '#storage/entities/index.ts';
import { type AdministrationContext, AdministrationError, change } from './context.ts';
import { siteBySlug } from './sites.ts';
import { userByEmail } from './users.ts';

export const createKeyInput = z.strictObject({ site: z.string(), owner: z.string(), label: z.string().max(200).default('') });

export interface CreatedKey {
	id: string;
	/** The whole key; never shown again. */
	key: string;
	site: string;
	owner: string;
	label: string;
}

export interface KeyRecord {
	id: string;
	prefix: string;
	site: string;
	owner: string;
	label: string;
	created_at: string;
	last_used_at: string | null;
	revoked_at: string | null;
}

export function createKey(context: AdministrationContext, input: z.infer<typeof createKeyInput>): Promise<CreatedKey> {
	return change(context, async (em) => {
		const site = await siteBySlug(em, input.site);
		const owner = await userByEmail(em, input.owner);
		if (!site.active || !owner.active) throw new AdministrationError('the site or the owner is disabled');
		if (owner.role !== 'administrator' && !owner.sites.getItems().some(({ id }) => id === site.id)) {
			throw new AdministrationError(`'${owner.email}' is no user of the site '${site.slug}'`);
		}
		const { id, secret, key } = createApiKey();
		em.create(ApiKey, {
			id,
			site,
			owner,
			label: input.label,
			secretHash: digestSecret(secret),
			createdAt: new Date(context.nowMs()),
			lastUsedAt: null,
			revokedAt: null,
		});
		const created = { id, key, site: site.slug, owner: owner.email, label: input.label };
		return [created, { action: 'key.create', subject: id, siteId: site.id, detail: { owner: owner.email, label: input.label } }];
	});
}

export async function listKeys({ em }: AdministrationContext, site?: string): Promise<KeyRecord[]> {
	const where = site === undefined ? {} : { site: { slug: site } };
	const keys = await em.fork().find(ApiKey, where, { populate: ['site', 'owner'], orderBy: { createdAt: 'asc' } });
	return keys.map(record);
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
	};
}

export function revokeKey(context: AdministrationContext, id: string): Promise<KeyRecord> {
	return change(context, async (em) => {
		const key = await em.findOne(ApiKey, { id }, { populate: ['site', 'owner'] });
		if (!key) throw new AdministrationError(`there is no key '${id}'`);
		key.revokedAt ??= new Date(context.nowMs());
		return [record(key), { action: 'key.revoke', subject: id, siteId: key.site.id, detail: {} }];
	});
}
