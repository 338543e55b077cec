import { z } from 'zod';
import { newId } from '#core/id.ts';
import { moveStates } from '#core/move-states.ts';
import { definitionOf, noSettings, settingNamesOf } from '#record/settings/settings.ts';
import { type EntityManager, runInTransaction, Site } from '#storage/entities/index.ts';
import { insertTurn } from '#storage/statements/administrative/sites.ts';
import { type AdministrationContext, AdministrationError, change } from './context.ts';
import { instant } from './schemas.ts';
import { applySettings, inForce, ownSettings, settingInputs, settingRecords, settingsInForce } from './settings.ts';

const slug = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'a slug has 1 to 63 lower-case letters, digits and inner hyphens');
/** DICOM PS3.5 §6.2, VR AE: up to 16 characters of the default repertoire, without backslash and control characters. */
export const aeTitle = z
	.string()
	.regex(/^(?=.*\S)[\x20-\x5b\x5d-\x7e]{1,16}$/, 'an AE title has 1 to 16 printable characters and no backslash');

/** A limit below the node's. If it is empty or null, only the node's limit applies. */
const ownLimit = (max: number) => z.literal('').or(z.null()).or(z.coerce.number().int().min(1).max(max));

export const addSiteInput = z.strictObject({
	slug,
	name: z.string().trim().min(1).max(200),
	ae_title: aeTitle.optional(),
	...settingInputs('site'),
});
export const setSiteInput = z.strictObject({
	slug,
	name: z.string().trim().min(1).max(200).optional(),
	ae_title: aeTitle.or(z.literal('')).optional(),
	...settingInputs('site'),
	waiting_max: ownLimit(1_000_000).optional(),
	associations_max: ownLimit(65_535).optional(),
});

export const siteRecord = z.strictObject({
	id: z.uuid(),
	slug: z.string(),
	name: z.string(),
	ae_title: z.string().nullable(),
	...settingRecords('site'),
	waiting_max: z
		.int()
		.nullable()
		.describe('messages of the site that may wait to be stored, per node; null: only MAILBOX_MESSAGES_MAX applies'),
	associations_max: z
		.int()
		.nullable()
		.describe('concurrent DICOM associations of the site, per node; null: only DIMSE_ASSOCIATIONS_MAX applies'),
	active: z.boolean(),
	created_at: instant,
	move: z
		.strictObject({ state: z.enum(moveStates), peer: z.string(), since: instant })
		.nullable()
		.describe('the move of the site to another database: leaving, left or arriving, and which database the other one is'),
});
export type SiteRecord = z.infer<typeof siteRecord>;
/** The site with the values of its settings that hold. */
export const shownSite = siteRecord.extend({
	settings: settingsInForce,
});
export type ShownSite = z.infer<typeof shownSite>;

function record(site: Site): SiteRecord {
	const { moveState, movePeer, movedAt } = site;
	return {
		id: site.id,
		slug: site.slug,
		name: site.name,
		ae_title: site.aeTitle ?? null,
		...ownSettings('site', site),
		waiting_max: site.waitingMax ?? null,
		associations_max: site.associationsMax ?? null,
		active: site.active,
		created_at: site.createdAt.toISOString(),
		move: moveState && movedAt ? { state: moveState, peer: movePeer ?? '', since: movedAt.toISOString() } : null,
	};
}

function shown(site: Site): ShownSite {
	return { ...record(site), settings: inForce('site', site, site) };
}

/** @throws AdministrationError if the site does not exist */
export async function siteBySlug(em: EntityManager, slugText: string): Promise<Site> {
	const site = await em.findOne(Site, { slug: slugText });
	if (!site) throw new AdministrationError(`there is no site '${slugText}'`, 'not-found');
	return site;
}

export function addSite(context: AdministrationContext, input: z.infer<typeof addSiteInput>): Promise<ShownSite> {
	return change(context, async (em) => {
		if (await em.findOne(Site, { slug: input.slug })) {
			throw new AdministrationError(`the site '${input.slug}' already exists`, 'conflict', 'slug');
		}
		await refuseTakenTitle(context, em, input.ae_title);
		const site = em.create(Site, {
			id: newId(context.nowMs()),
			slug: input.slug,
			name: input.name,
			aeTitle: input.ae_title ?? null,
			defaultAuthority: null,
			updateCreates: true,
			checkReferences: true,
			instancePolicy: 'keep',
			waitingMax: null,
			associationsMax: null,
			settings: noSettings,
			active: true,
			createdAt: new Date(context.nowMs()),
		});
		applySettings('site', site, input);
		await em.flush();
		await runInTransaction(em, insertTurn, [site.id]);
		return [shown(site), { action: 'site.add', subject: site.slug, siteId: site.id, after: record(site) }];
	});
}

/** A site to which the caller has no access is not named. */
function takenTitle({ actor }: AdministrationContext, holder: string): string {
	const known = actor.sites === 'all' || actor.sites.includes(holder);
	return known ? `the AE title belongs to the site '${holder}'` : 'the AE title belongs to another site';
}

async function refuseTakenTitle(context: AdministrationContext, em: EntityManager, title: string | undefined): Promise<void> {
	const holder = title ? await em.findOne(Site, { aeTitle: title }) : null;
	if (holder) throw new AdministrationError(takenTitle(context, holder.slug), 'conflict', 'ae_title');
}

export async function listSites({ em, visibleSites }: AdministrationContext): Promise<SiteRecord[]> {
	const where = visibleSites === 'all' ? {} : { slug: { $in: [...visibleSites] } };
	return (await em.fork().find(Site, where, { orderBy: { slug: 'asc' } })).map(record);
}

export async function showSite({ em }: AdministrationContext, slugText: string): Promise<ShownSite> {
	return shown(await siteBySlug(em.fork(), slugText));
}

/** A site's limits protect the other sites, and its retention its own data, so its own managers may not change them. */
function refuseOwnLimits({ actor }: AdministrationContext, input: z.infer<typeof setSiteInput>): void {
	if (actor.role === 'administrator') return;
	const limit = (['waiting_max', 'associations_max'] as const).find((name) => input[name] !== undefined);
	if (limit !== undefined) throw new AdministrationError('only an administrator may set the limits of a site', 'forbidden', limit);
	const kept = settingNamesOf('site').find((name) => definitionOf(name).topic === 'retention' && input[name] !== undefined);
	if (kept !== undefined) throw new AdministrationError('only an administrator may say how long a site keeps its data', 'forbidden', kept);
}

export async function setSite(context: AdministrationContext, input: z.infer<typeof setSiteInput>): Promise<ShownSite> {
	refuseOwnLimits(context, input);
	return change(context, async (em) => {
		const site = await siteBySlug(em, input.slug);
		const before = record(site);
		if (input.ae_title !== site.aeTitle) await refuseTakenTitle(context, em, input.ae_title);
		if (input.name !== undefined) site.name = input.name;
		if (input.ae_title !== undefined) site.aeTitle = input.ae_title || null;
		applySettings('site', site, input);
		if (input.waiting_max !== undefined) site.waitingMax = input.waiting_max || null;
		if (input.associations_max !== undefined) site.associationsMax = input.associations_max || null;
		return [shown(site), { action: 'site.set', subject: site.slug, siteId: site.id, before, after: record(site) }];
	});
}

/** The keys and clients of a disabled site are refused. Its data is kept. */
export function enableSite(context: AdministrationContext, slugText: string, active: boolean): Promise<SiteRecord> {
	return change(context, async (em) => {
		const site = await siteBySlug(em, slugText);
		const before = record(site);
		site.active = active;
		const after = record(site);
		return [after, { action: active ? 'site.enable' : 'site.disable', subject: site.slug, siteId: site.id, before, after }];
	});
}
