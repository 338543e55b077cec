import { z } from 'zod';
import { type AddressRange, isAnySource, parseRange, rangesOverlap } from '#core/address.ts';
import { isUuid, newId } from '#core/id.ts';
import { noSettings } from '#record/settings/settings.ts';
import { type EntityManager, IntegrationClient, runInTransaction, type Site } from '#storage/entities/index.ts';
import { lockAccessVersion } from '#storage/statements/administrative/read-access.ts';
import { type AdministrationContext, AdministrationError, change } from './context.ts';
import { applySettings, inForce, ownSettings, settingInputs, settingRecords, settingsInForce } from './settings.ts';
import { siteBySlug } from './sites.ts';
import { ofVisibleSites } from './visible-sites.ts';

const members = {
	protocols: z
		.array(z.enum(['hl7-mllp', 'dicom']))
		.min(1)
		.max(10),
	allowed_ips: z
		.array(z.string().refine((text) => parseRange(text) !== undefined, 'an allowed address is an IP address, a CIDR range or *'))
		.min(1)
		.max(1000),
	sending_application: z.string().max(227),
	sending_facility: z.string().max(227),
	calling_ae: z.string().max(16),
	grants: z.array(z.enum(['query'])).max(10),
};
const name = z.string().trim().min(1).max(200);
const confirming = {
	confirm_overlap: z
		.boolean()
		.default(false)
		.describe('an administrator of all sites confirms that clients of another site have addresses in common with this one'),
};

export const addClientInput = z.strictObject({
	...z.object(members).partial().shape,
	...settingInputs('client'),
	site: z.string(),
	name,
	protocols: members.protocols,
	allowed_ips: members.allowed_ips,
	...confirming,
});
export const setClientInput = z.strictObject({
	...z.object({ ...members, name, active: z.boolean() }).partial().shape,
	...settingInputs('client'),
	...confirming,
	id: z.string(),
});

export const clientRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	name: z.string(),
	protocols: z.array(z.string()),
	allowed_ips: z.array(z.string()),
	sending_application: z.string().nullable(),
	sending_facility: z.string().nullable(),
	calling_ae: z.string().nullable(),
	...settingRecords('client'),
	grants: z.array(z.string()),
	active: z.boolean(),
});
export type ClientRecord = z.infer<typeof clientRecord>;
/** The client with the values of its settings that hold. */
export const shownClient = clientRecord.extend({ settings: settingsInForce });
export type ShownClient = z.infer<typeof shownClient>;

function record(client: IntegrationClient): ClientRecord {
	return {
		id: client.id,
		site: client.site.slug,
		name: client.name,
		protocols: client.protocols,
		allowed_ips: client.allowedIps,
		sending_application: client.sendingApplication ?? null,
		sending_facility: client.sendingFacility ?? null,
		calling_ae: client.callingAe ?? null,
		...ownSettings('client', client),
		grants: client.grants,
		active: client.active,
	};
}

function shown(client: IntegrationClient): ShownClient {
	return { ...record(client), settings: inForce('client', client, client.site) };
}

function refuseAnySource({ allowAnySource }: AdministrationContext, addresses: readonly string[] | undefined): void {
	if (allowAnySource) return;
	const wide = rangesOf(addresses ?? []).find(isAnySource);
	if (wide === undefined) return;
	const text = `'${wide.text}' stands for any source (prefixes below /8 of IPv4 and /16 of IPv6 do), and ALLOW_ANY_SOURCE is off`;
	throw new AdministrationError(text, 'refused', 'allowed_ips');
}

/** These members decide which messages are those of a client. */
type Claim = Pick<IntegrationClient, 'protocols' | 'allowedIps' | 'sendingApplication' | 'sendingFacility'>;

/**
 * The longer address prefix decides which site a message belongs to, so a client can take over messages that another site gets now, or will
 * get later. Whoever comes second is told, in whichever order the two come, and an administrator of all sites has to confirm it.
 * @param before the client as it was; what it overlapped then was confirmed
 * @throws AdministrationError
 */
async function refuseOverlaps(
	{ actor }: AdministrationContext,
	em: EntityManager,
	client: IntegrationClient,
	{ before, isConfirmed }: { before?: Claim; isConfirmed: boolean },
): Promise<void> {
	const ranges = newRanges(client, before);
	if (ranges.length === 0 || (isConfirmed && actor.sites === 'all')) return;
	// If two come at the same time, the second one waits here and then sees the first.
	await runInTransaction(em, lockAccessVersion, []);
	const all = await em.find(IntegrationClient, { site: { $ne: client.site } }, { populate: ['site'] });
	const others = all.filter((other) => other.protocols.includes('hl7-mllp'));
	if (actor.sites !== 'all') {
		const { sites } = actor;
		const foreign = others.filter(({ site }) => !sites.includes(site.slug));
		const range = overlapsOf(ranges, foreign)[0]?.range;
		if (range === undefined) return;
		const text = `'${range.text}' needs an administrator of all sites: another site accepts messages from there or from a part of it`;
		throw new AdministrationError(text, 'forbidden', 'allowed_ips');
	}
	const overlaps = overlapsOf(ranges, others).filter(({ other }) => maySendTheSame(client, other));
	if (overlaps.length === 0) return;
	const shown = overlaps
		.slice(0, shownMax)
		.map(({ range, other, theirs }) => `'${range.text}' and '${theirs.text}' of '${other.name}' (${other.site.slug})`);
	const more = overlaps.length > shownMax ? ` and ${overlaps.length - shownMax} more` : '';
	const text = `addresses overlap those of another site: ${shown.join(', ')}${more}; the longer prefix gets the messages, and equal ones are refused. confirm_overlap confirms it`;
	throw new AdministrationError(text, 'conflict', 'confirm_overlap');
}

/** Overlaps that a refusal names. */
const shownMax = 5;

interface Overlap {
	range: AddressRange;
	other: IntegrationClient;
	theirs: AddressRange;
}

/** Returns the ranges that a change adds to what a client takes over MLLP. What stays as it was has been decided before. */
function newRanges(client: Claim, before: Claim | undefined): AddressRange[] {
	if (!client.protocols.includes('hl7-mllp')) return [];
	const isSame = (member: 'sendingApplication' | 'sendingFacility') => (before?.[member] ?? '') === (client[member] ?? '');
	const kept = before?.protocols.includes('hl7-mllp') === true && isSame('sendingApplication') && isSame('sendingFacility');
	const held = new Set(kept ? before.allowedIps : []);
	return rangesOf(client.allowedIps).filter(({ text }) => !held.has(text));
}

function overlapsOf(ranges: readonly AddressRange[], others: readonly IntegrationClient[]): Overlap[] {
	const theirs = others.flatMap((other) => rangesOf(other.allowedIps).map((one) => ({ other, theirs: one })));
	return ranges.flatMap((range) => theirs.filter((one) => rangesOverlap(range, one.theirs)).map((one) => ({ range, ...one })));
}

/** False when no message fits both: an interface engine sends for several sites, each with a value of MSH-3 or MSH-4 of its own. */
function maySendTheSame(one: Claim, other: Claim): boolean {
	const differ = (left: string | null | undefined, right: string | null | undefined) => Boolean(left) && Boolean(right) && left !== right;
	return !differ(one.sendingApplication, other.sendingApplication) && !differ(one.sendingFacility, other.sendingFacility);
}

function rangesOf(addresses: readonly string[]): AddressRange[] {
	return addresses.flatMap((address) => parseRange(address) ?? []);
}

export async function addClient(context: AdministrationContext, input: z.input<typeof addClientInput>): Promise<ShownClient> {
	refuseAnySource(context, input.allowed_ips);
	return change(context, async (em) => {
		const site = await siteBySlug(em, input.site);
		await refuseTakenName(em, site, input.name);
		const client = em.create(IntegrationClient, {
			site,
			id: newId(context.nowMs()),
			name: input.name,
			protocols: input.protocols,
			allowedIps: input.allowed_ips,
			sendingApplication: input.sending_application || null,
			sendingFacility: input.sending_facility || null,
			callingAe: input.calling_ae || null,
			ackMode: 'original',
			alsoEvents: [],
			ignoreEvents: [],
			grants: input.grants ?? [],
			settings: noSettings,
			active: true,
			createdAt: new Date(context.nowMs()),
		});
		applySettings('client', client, input);
		await refuseOverlaps(context, em, client, { isConfirmed: input.confirm_overlap === true });
		return [shown(client), { action: 'client.add', subject: client.id, siteId: site.id, after: record(client) }];
	});
}

async function refuseTakenName(em: EntityManager, site: Site, taken: string): Promise<void> {
	if (await em.findOne(IntegrationClient, { site, name: taken })) {
		throw new AdministrationError(`the site already has a client '${taken}'`, 'conflict', 'name');
	}
}

async function clientById(em: EntityManager, id: string): Promise<IntegrationClient> {
	const client = isUuid(id) ? await em.findOne(IntegrationClient, { id }, { populate: ['site'] }) : null;
	if (!client) throw new AdministrationError(`there is no integration client '${id}'`, 'not-found');
	return client;
}

/** Lists clients, newest first. */
export async function listClients(context: AdministrationContext): Promise<ClientRecord[]> {
	const options = { populate: ['site'], orderBy: { createdAt: 'desc', id: 'asc' } } as const;
	return (await context.em.fork().find(IntegrationClient, ofVisibleSites(context), options)).map(record);
}

export async function showClient({ em }: AdministrationContext, id: string): Promise<ShownClient> {
	return shown(await clientById(em.fork(), id));
}

export async function setClient(context: AdministrationContext, input: z.input<typeof setClientInput>): Promise<ShownClient> {
	refuseAnySource(context, input.allowed_ips);
	return change(context, async (em) => {
		const client = await clientById(em, input.id);
		const before = record(client);
		const { protocols, allowedIps, sendingApplication, sendingFacility } = client;
		const claimed = { protocols, allowedIps, sendingApplication, sendingFacility };
		if (input.name !== undefined && input.name !== client.name) {
			await refuseTakenName(em, client.site, input.name);
			client.name = input.name;
		}
		if (input.protocols !== undefined) client.protocols = input.protocols;
		if (input.allowed_ips !== undefined) client.allowedIps = input.allowed_ips;
		if (input.sending_application !== undefined) client.sendingApplication = input.sending_application || null;
		if (input.sending_facility !== undefined) client.sendingFacility = input.sending_facility || null;
		if (input.calling_ae !== undefined) client.callingAe = input.calling_ae || null;
		applySettings('client', client, input);
		if (input.grants !== undefined) client.grants = input.grants;
		if (input.active !== undefined) client.active = input.active;
		await refuseOverlaps(context, em, client, { before: claimed, isConfirmed: input.confirm_overlap === true });
		return [shown(client), { action: 'client.set', subject: client.id, siteId: client.site.id, before, after: record(client) }];
	});
}

export function removeClient(context: AdministrationContext, id: string): Promise<ClientRecord> {
	return change(context, async (em) => {
		const client = await clientById(em, id);
		const removed = record(client);
		em.remove(client);
		return [removed, { action: 'client.remove', subject: id, siteId: client.site.id, before: removed }];
	});
}
