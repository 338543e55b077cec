import { isUuid } from '#core/id.ts';
import { ApiKey, type EntityManager, IntegrationClient, Site } from '#storage/entities/index.ts';
import { listFeedChanges, listFeedFailures, listFeedMessages } from '#storage/statements/administrative/read-feeds.ts';
import type { OperationContext } from '../context.ts';
import type { Found } from '../operation.ts';
import { inForce } from '../settings.ts';
import { feedById } from './list-feeds.ts';
import type { FeedRecord, ShownFeed } from './records.ts';

const messagesShown = 20;
const failuresScanned = 1000;

type Row<Of, At extends keyof Of> = Omit<Of, At> & Record<At, Date>;

/** Traffic of no site is for those who see all sites: no slug is empty. */
export async function findFeed(context: OperationContext, { id }: { id: string }): Promise<Found<FeedRecord> | null> {
	const found = await feedById(context, id);
	return found === undefined ? null : { site: found.site ?? '', found };
}

/** Shows a feed with its failures by cause, its latest messages and who changed it. Traffic of no site has none of these in the message log. */
export async function showFeed(context: OperationContext, feed: FeedRecord): Promise<ShownFeed> {
	const { id } = feed;
	const em = context.em.fork();
	const site = feed.site === null ? null : await em.findOne(Site, { slug: feed.site });
	if (site === null || feed.kind === 'unmatched')
		return { ...feed, called_ae: site?.aeTitle ?? null, settings: null, failures: [], messages: [], changes: [] };
	const own = id.startsWith(`${site.slug}:`) ? id.slice(site.slug.length + 1) : id;
	const of = [site.id, isUuid(own) ? own : null, own];
	const { database, limits } = context;
	const failures = await database.search<Row<ShownFeed['failures'][number], 'last_at'>>(
		listFeedFailures,
		[...of, failuresScanned],
		limits.readMsMax,
	);
	const messages = await database.search<Row<ShownFeed['messages'][number], 'received_at'>>(
		listFeedMessages,
		[...of, messagesShown],
		limits.readMsMax,
	);
	type Change = { id: string; recorded_at: Date; actor: string; action: string; detail: Record<string, unknown> };
	const changes = await database.rows<Change>(listFeedChanges, [site.id, own]);
	return {
		...feed,
		called_ae: site.aeTitle ?? null,
		settings: await settingsOf(em, feed, site),
		failures: failures.map((row) => ({ ...row, last_at: row.last_at.toISOString() })),
		messages: messages.map((row) => ({ ...row, received_at: row.received_at.toISOString() })),
		changes: changes.map(({ recorded_at, ...row }) => ({ ...row, at: recorded_at.toISOString() })),
	};
}

/** A sender without a row of its own is read by the settings of its site. */
async function settingsOf(em: EntityManager, { id, kind }: FeedRecord, site: Site): Promise<ShownFeed['settings']> {
	if (kind === 'former') return null;
	const ofSite = inForce('site', site, site);
	if (kind === 'client') {
		const client = await em.findOne(IntegrationClient, { id });
		return client && { ...ofSite, ...inForce('client', client, site) };
	}
	if (kind === 'key') {
		const key = await em.findOne(ApiKey, { id });
		return key && { ...ofSite, ...inForce('key', key, site) };
	}
	return ofSite;
}
