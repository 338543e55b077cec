import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { testNotice } from '#alerts/notice.ts';
import { severities } from '#alerts/rule.ts';
import { alertNames, runbooks } from '#alerts/rules/index.ts';
import { NotSent, type Recipient } from '#alerts/sender.ts';
import { isUuid, newId } from '#core/id.ts';
import { hostOf, isProviderUrl } from '#core/provider-url.ts';
import { type EntityManager, Notification, type Site } from '#storage/entities/index.ts';
import { readDeliveries, readLatestDeliveries, readRecentAlerts } from '#storage/statements/administrative/notify.ts';
import { AdministrationError, change, note, type OperationContext } from './context.ts';
import type { Found } from './operation.ts';
import { instant } from './schemas.ts';
import { siteBySlug } from './sites.ts';
import { refuseGuarded } from './targets.ts';
import { userByEmail } from './users.ts';

const alerts = z.array(z.enum(alertNames)).max(200).describe('the names of alerts; none: all of them');
const told = z.array(z.enum(severities)).min(1).describe('alerts of these severities');
const ofSites = z.array(z.string()).max(5000).describe('only alerts about these sites; none: all that the person may see');

export const addNotificationInput = z.strictObject({
	by: z.enum(['email', 'webhook']),
	to: z
		.string()
		.max(2000)
		.optional()
		.describe('an e-mail address, or the https URL of a webhook; a person gets mail at the address of the account'),
	user: z.string().optional().describe('the person who is told; unset: you'),
	site: z.string().optional().describe('told of alerts about this site, instead of a person'),
	network: z.boolean().default(false).describe('told of all alerts of the network, instead of a person'),
	alerts: alerts.default([]),
	severities: told.default(['critical', 'warning']),
	sites: ofSites.default([]),
});
export const setNotificationInput = z.strictObject({
	id: z.string(),
	alerts: alerts.optional(),
	severities: told.optional(),
	sites: ofSites.optional(),
	active: z.boolean().optional().describe('off: nobody is told until it is on again'),
});
export const namedNotification = z.strictObject({ id: z.string() });

export const notificationRecord = z.strictObject({
	id: z.uuid(),
	by: z.enum(['email', 'webhook']),
	to: z.string(),
	user: z.string().nullable(),
	site: z.string().nullable(),
	alerts: z.array(z.string()),
	severities: z.array(z.enum(severities)),
	sites: z.array(z.string()),
	active: z.boolean(),
	created_at: instant,
});
export const listedNotification = notificationRecord.extend({
	latest: z
		.strictObject({ state: z.enum(['waiting', 'sent', 'failed']), reason: z.string().nullable(), at: instant })
		.nullable()
		.describe('what became of the latest notification; null if there was none'),
});
export const newNotification = notificationRecord.extend({
	secret: z.string().optional().describe('signs the webhooks; shown only once'),
});
type NotificationRecord = z.infer<typeof notificationRecord>;

export const testOutput = z.strictObject({
	id: z.uuid(),
	by: z.enum(['email', 'webhook']),
	to: z.string(),
	outcome: z.enum(['sent', 'failed']),
	reason: z.string(),
});

const secretBytes = 32;

function record(of: Notification, slugs: ReadonlyMap<string, string>): NotificationRecord {
	const { id, by, user, site, target, alerts: names, severities: which, sites, active, createdAt } = of;
	return {
		...{ id, by, to: user && by === 'email' ? user.email : target, user: user?.email ?? null, site: site?.slug ?? null },
		...{ alerts: names, severities: which, sites: sites.map((siteId) => slugs.get(siteId) ?? siteId), active },
		created_at: createdAt.toISOString(),
	};
}

async function slugsOf(em: EntityManager): Promise<Map<string, string>> {
	const sites = await em.execute<{ id: string; slug: string }[]>('select id, slug from site');
	return new Map(sites.map(({ id, slug }) => [id, slug]));
}

/** A person manages what tells that person; a manager what tells a site; an administrator everything. */
function refuseOthers({ actor }: OperationContext, { user, site }: { user: string | null; site: string | null }): void {
	if (actor.role === 'administrator') return;
	const own = user !== null ? user === actor.name : site !== null && actor.role === 'manager' && actor.sites.includes(site);
	if (own) return;
	const whose = user !== null ? 'another person' : site !== null ? 'a site that you do not manage' : 'the network';
	throw new AdministrationError(`you are not permitted to change the notifications of ${whose}`, 'forbidden');
}

function targetOf(
	context: OperationContext,
	{ by, to, user }: { by: 'email' | 'webhook'; to: string | undefined; user: string | undefined },
): string {
	if (by === 'email') {
		if (user !== undefined) {
			if (to !== undefined && to !== user)
				throw new AdministrationError('to: a person gets mail at the address of the account', 'form', 'to');
			return user;
		}
		if (!z.email().safeParse(to).success) throw new AdministrationError('to: an e-mail address is needed', 'form', 'to');
		return to ?? '';
	}
	if (to === undefined || !isProviderUrl(to))
		throw new AdministrationError('to: a URL with https is needed, or with http on this host', 'form', 'to');
	refuseGuarded(context, hostOf(to), 'to');
	return to;
}

export async function addNotification(
	context: OperationContext,
	input: z.output<typeof addNotificationInput>,
): Promise<z.input<typeof newNotification>> {
	const { by, site: slug, network } = input;
	if ([input.user !== undefined, slug !== undefined, network].filter(Boolean).length > 1)
		throw new AdministrationError('a notification is for one person, one site, or the network', 'form', 'user');
	const isPersonal = slug === undefined && !network;
	if (isPersonal && input.user === undefined && !context.actor.name.includes('@'))
		throw new AdministrationError('say who is told: --user, --site or --network', 'form', 'user');
	const email = isPersonal ? (input.user ?? context.actor.name).toLowerCase() : undefined;
	refuseOthers(context, { user: email ?? null, site: slug ?? null });
	const target = targetOf(context, { by, to: input.to, user: email });
	const secret = by === 'webhook' ? randomBytes(secretBytes) : undefined;
	return change(context, async (em) => {
		const [user, site] = [
			email === undefined ? null : await userByEmail(em, email),
			slug === undefined ? null : await siteBySlug(em, slug),
		];
		const { notificationsMax } = context.limits;
		if ((await em.count(Notification, { user, site })) >= notificationsMax)
			throw new AdministrationError(`there are ${notificationsMax} notifications already, and NOTIFICATIONS_MAX permits no more`);
		const id = newId(context.nowMs());
		const sites = await idsOf(context, em, input.sites);
		const sealed = secret === undefined ? null : context.notifications.seal(secret, id);
		const made = em.create(Notification, {
			...{ id, user, site, by, target, secret: sealed, alerts: input.alerts, severities: input.severities, sites, active: true },
			createdAt: new Date(context.nowMs()),
		});
		const after = record(made, await slugsOf(em));
		const shown = secret === undefined ? after : { ...after, secret: secret.toString('base64url') };
		return [shown, { action: 'notification.add', subject: id, siteId: site?.id ?? null, after }];
	});
}

/** @throws AdministrationError for a site that the actor has no access to */
async function idsOf({ actor }: OperationContext, em: EntityManager, slugs: readonly string[]): Promise<string[]> {
	const foreign = actor.sites === 'all' ? undefined : slugs.find((slug) => !actor.sites.includes(slug));
	if (foreign !== undefined) throw new AdministrationError(`you do not have access to the site '${foreign}'`, 'forbidden', 'sites');
	const sites: Site[] = [];
	for (const slug of slugs) sites.push(await siteBySlug(em, slug));
	return sites.map(({ id }) => id);
}

/** Finds a notification for whoever may see it: one's own, one of a site of one's own, and all for an administrator. */
export async function findNotification(context: OperationContext, { id }: { id: string }): Promise<Found<NotificationRecord> | null> {
	if (!isUuid(id)) return null;
	const em = context.em.fork();
	const found = await em.findOne(Notification, { id }, { populate: ['user', 'site'] });
	if (!found) return null;
	const shown = record(found, await slugsOf(em));
	return { site: shown.site ?? ownSite(context, shown), found: shown };
}

/** A notification of one's own is found under a site of one's own. */
function ownSite({ actor }: OperationContext, { user }: NotificationRecord): string {
	return user === actor.name && actor.sites !== 'all' ? (actor.sites[0] ?? '') : '';
}

export async function listNotifications(context: OperationContext): Promise<z.input<typeof listedNotification>[]> {
	const em = context.em.fork();
	const slugs = await slugsOf(em);
	const all = await em.findAll(Notification, { populate: ['user', 'site'], orderBy: { id: 'asc' } });
	const { visibleSites, actor } = context;
	const isSeen = ({ user, site }: NotificationRecord) => {
		if (user !== null) return user === actor.name || (actor.role === 'administrator' && visibleSites === 'all');
		return visibleSites === 'all' || (site !== null && visibleSites.includes(site));
	};
	const latest = new Map((await context.database.run(readLatestDeliveries, [])).map(([id, ...cells]) => [id, cells]));
	return all
		.map((one) => record(one, slugs))
		.filter(isSeen)
		.map((one) => {
			const [state, reason = null, at] = latest.get(one.id) ?? [];
			return { ...one, latest: state ? { state: stateOf(state), reason, at: at ?? '' } : null };
		});
}

async function changed(
	context: OperationContext,
	found: NotificationRecord,
	work: (em: EntityManager, of: Notification) => Promise<string>,
): Promise<NotificationRecord> {
	refuseOthers(context, found);
	return change(context, async (em) => {
		const of = await em.findOneOrFail(Notification, { id: found.id }, { populate: ['user', 'site'] });
		const slugs = await slugsOf(em);
		const before = record(of, slugs);
		const action = await work(em, of);
		const after = record(of, slugs);
		return [after, { action, subject: of.id, siteId: of.site?.id ?? null, before, ...(action === 'notification.set' && { after }) }];
	});
}

export function setNotification(
	context: OperationContext,
	input: z.output<typeof setNotificationInput>,
	found: NotificationRecord,
): Promise<NotificationRecord> {
	return changed(context, found, async (em, of) => {
		if (input.alerts !== undefined) of.alerts = input.alerts;
		if (input.severities !== undefined) of.severities = input.severities;
		if (input.active !== undefined) of.active = input.active;
		if (input.sites !== undefined) of.sites = await idsOf(context, em, input.sites);
		return 'notification.set';
	});
}

export function removeNotification(context: OperationContext, _input: object, found: NotificationRecord): Promise<NotificationRecord> {
	return changed(context, found, async (em, of) => {
		em.remove(of);
		return 'notification.remove';
	});
}

/** Sends a test to the recipient now, and tells what became of it. */
export async function testNotification(
	context: OperationContext,
	_input: object,
	found: NotificationRecord,
): Promise<z.input<typeof testOutput>> {
	refuseOthers(context, found);
	const { secret } = await context.em.fork().findOneOrFail(Notification, { id: found.id });
	const { id, by, to } = found;
	const recipient: Recipient =
		by === 'email' ? { by, target: to } : { by, target: to, secret: context.notifications.open(Buffer.from(secret ?? []), id) };
	let reason = '';
	try {
		await context.notifications.sender.send(recipient, testNotice(newId(context.nowMs()), context.nowMs()));
	} catch (error) {
		if (!(error instanceof NotSent)) throw error;
		reason = error.message;
	}
	const outcome = reason === '' ? 'sent' : 'failed';
	const siteId = found.site === null ? null : (await siteBySlug(context.em.fork(), found.site)).id;
	await note(context, { action: 'notification.test', subject: id, siteId, after: { outcome } });
	return { id, by, to, outcome, reason };
}

const stateOf = (text: string | null | undefined) => (text === 'sent' || text === 'failed' ? text : 'waiting');

export const deliveryRecord = z.strictObject({
	id: z.uuid(),
	alert: z.string(),
	summary: z.string(),
	event: z.enum(['start', 'end']),
	state: z.enum(['waiting', 'sent', 'failed']),
	attempts: z.int(),
	reason: z.string().nullable(),
	created_at: instant,
	done_at: instant.nullable(),
	next_at: instant.nullable().describe('when it is tried again'),
});

export async function listDeliveries(
	context: OperationContext,
	_input: object,
	{ id }: NotificationRecord,
): Promise<z.input<typeof deliveryRecord>[]> {
	const rows = await context.database.run(readDeliveries, [id]);
	return rows.map(([delivery, alert, summary, event, state, attempts, reason, created, done, next]) => ({
		...{ id: delivery ?? '', alert: alert ?? '', summary: summary ?? '', event: event === 'end' ? 'end' : 'start' },
		...{ state: stateOf(state), attempts: Number(attempts), reason: reason ?? null },
		...{ created_at: created ?? '', done_at: done ?? null, next_at: state === 'waiting' ? (next ?? null) : null },
	}));
}

export const alertRecord = z.strictObject({
	id: z.uuid(),
	name: z.string(),
	severity: z.enum(severities),
	summary: z.string(),
	site: z.string().nullable(),
	node: z.string().nullable().describe('null for an alert of the network'),
	runbook: z.string().describe('what to do'),
	list: z.string().nullable().describe('the address in the console of the rows that it speaks of'),
	since: instant,
	ended_at: instant.nullable(),
});

/** An alert of a site is shown to whoever may see the site; all others to whoever may see all sites. */
export async function listAlerts(
	{ database, visibleSites }: OperationContext,
	{ ended }: { ended: boolean },
): Promise<z.input<typeof alertRecord>[]> {
	const rows = await database.run(readRecentAlerts, [ended]);
	return rows
		.map(([id, name, severity, summary, site, node, list, since, endedAt]) => ({
			...{ id: id ?? '', name: name ?? '', severity: severities.find((one) => one === severity) ?? 'info', summary: summary ?? '' },
			...{
				site: site ?? null,
				node: node ?? null,
				runbook: runbooks.get(name ?? '') ?? '',
				list: list ?? null,
				since: since ?? '',
				ended_at: endedAt ?? null,
			},
		}))
		.filter(({ site }) => visibleSites === 'all' || (site !== null && visibleSites.includes(site)));
}
