import { z } from 'zod';
import { isUuid } from '#core/id.ts';
import { readSettings, settingOf } from '#record/settings/settings.ts';
import { ApiKey, type EntityManager, IntegrationClient } from '#storage/entities/index.ts';
import { type AdministrationContext, AdministrationError, change } from '../context.ts';
import type { Found } from '../operation.ts';

/** A client or a key: what a site has set up, and people may pause. */
export interface Sender {
	holder: 'client' | 'key';
	entity: IntegrationClient | ApiKey;
}

async function senderById(em: EntityManager, id: string): Promise<Sender | null> {
	if (isUuid(id)) {
		const client = await em.findOne(IntegrationClient, { id }, { populate: ['site'] });
		return client && { holder: 'client', entity: client };
	}
	const key = await em.findOne(ApiKey, { id }, { populate: ['site'] });
	return key && { holder: 'key', entity: key };
}

export async function findSender({ em }: AdministrationContext, { id }: { id: string }): Promise<Found<Sender> | null> {
	const sender = await senderById(em.fork(), id);
	return sender && { site: sender.entity.site.slug, found: sender };
}

export const pausedFeed = z.strictObject({ id: z.string(), site: z.string(), paused: z.boolean() });

/**
 * Stops or resumes taking what a client or key sends. It is the setting `paused`, so every node knows it as it knows any other, and the
 * sender keeps what it has.
 */
export function setPaused(
	context: AdministrationContext,
	{ id, paused, reason }: { id: string; paused: boolean; reason?: string | undefined },
): Promise<z.infer<typeof pausedFeed>> {
	return change(context, async (em) => {
		const sender = await senderById(em, id);
		if (sender === null) throw new AdministrationError(`there is no client or key '${id}'`, 'not-found');
		const { entity, holder } = sender;
		const before = settingOf(readSettings(entity.settings), 'paused');
		const { paused: _, ...others } = entity.settings;
		entity.settings = paused ? { ...others, paused } : others;
		const after = { paused, ...(reason ? { reason } : {}) };
		return [
			{ id, site: entity.site.slug, paused },
			{ action: `${holder}.${paused ? 'pause' : 'resume'}`, subject: id, siteId: entity.site.id, before: { paused: before }, after },
		];
	});
}
