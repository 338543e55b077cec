import { z } from 'zod';
import { AssociationIndex } from '#access/association-index.ts';
import { ClientIndex } from '#access/client-index.ts';
import { readSnapshot, type Snapshot } from '#access/snapshot.ts';
import { parseAddress, parseRange, rangeContains } from '#core/address.ts';
import { IntegrationClient, Site } from '#storage/entities/index.ts';
import { AdministrationError, type OperationContext } from './context.ts';
import { ofVisibleSites } from './visible-sites.ts';

export const matchClientInput = z.strictObject({
	address: z.string().refine((text) => parseAddress(text) !== undefined, 'must be an IP address'),
	sending_application: z.string().optional().describe('MSH-3 of a message over MLLP'),
	sending_facility: z.string().optional().describe('MSH-4 of a message over MLLP'),
	called_ae: z.string().optional().describe('the called AE title of a DICOM association; leave it out to ask about an MLLP message'),
	calling_ae: z.string().optional(),
});
type Sender = z.infer<typeof matchClientInput>;

const outcomes = [
	'match',
	'no-address',
	'no-sender',
	'tie',
	'disabled',
	'called-unknown',
	'calling-refused',
	'another-site',
	'moved',
] as const;

export const clientMatch = z.strictObject({
	outcome: z.enum(outcomes),
	site: z.string().nullable(),
	client: z.strictObject({ id: z.uuid(), name: z.string() }).nullable(),
	reason: z.string().describe('why this client matched, or why none did'),
});
type ClientMatch = z.infer<typeof clientMatch>;

/** Decides as the sockets would, from the same access data, read now. It reveals nothing about sites that the caller cannot see. */
export async function matchClient(context: OperationContext, sender: Sender): Promise<ClientMatch> {
	const snapshot = await context.database.use((client) => readSnapshot(client, context.allowAnySource));
	const clients = await context.em.fork().find(IntegrationClient, ofVisibleSites(context), { populate: ['site'] });
	const own = clients.map((client) => ({ ...described(client), client }));
	if (sender.called_ae !== undefined) return matchAssociation(context, snapshot, own, sender, sender.called_ae);
	if (sender.calling_ae !== undefined) throw new AdministrationError('calling_ae requires called_ae', 'form', 'called_ae');
	return matchMessage(snapshot, own, sender);
}

interface OwnClient {
	id: string;
	name: string;
	site: string;
	client: IntegrationClient;
}

function described({ id, name, site }: IntegrationClient): Omit<OwnClient, 'client'> {
	return { id, name, site: site.slug };
}

function none(outcome: (typeof outcomes)[number], reason: string): ClientMatch {
	return { outcome, site: null, client: null, reason };
}

const elsewhere = none('another-site', 'a client of another site matches, or matches equally well; ask an administrator of all sites');

function matchMessage(snapshot: Snapshot, own: readonly OwnClient[], sender: Sender): ClientMatch {
	const { address, sending_application: application = '', sending_facility: facility = '' } = sender;
	const clients = snapshot.clients.filter(({ protocols }) => protocols.includes('hl7-mllp'));
	const found = new ClientIndex(clients).match(address, application, facility);
	const near = own.filter(({ client }) => client.protocols.includes('hl7-mllp') && listsAddress(client, address));
	if (found.kind === 'match') {
		const taker = own.find(({ id }) => id === found.grant.clientId);
		if (taker === undefined) return near.length > 0 ? elsewhere : none('no-address', nobodysAddress);
		return matched(taker, `the address is listed, ${demandsOf(taker.client)}`, snapshot.movedSites.get(found.grant.siteId));
	}
	if (found.kind === 'tie') {
		const sites = [...new Set(near.filter(({ client }) => isActive(client)).map(({ site }) => site))];
		if (sites.length < 2) return sites.length === 0 ? none('no-address', nobodysAddress) : elsewhere;
		return none('tie', `clients of several sites match equally well: ${sites.sort().join(', ')}; no site receives the message`);
	}
	const disabled = near.find(
		({ client }) => !isActive(client) && fits(client.sendingApplication, application) && fits(client.sendingFacility, facility),
	);
	if (disabled !== undefined) return disabledOf(disabled);
	const active = near.filter(({ client }) => isActive(client));
	if (active.length === 0) return none('no-address', nobodysAddress);
	const list = active.map((each) => `'${each.name}' of ${each.site}: ${demandsOf(each.client)}`).join('; ');
	return none('no-sender', `the address is listed, but MSH-3 or MSH-4 does not match: ${list}`);
}

const nobodysAddress = 'no active client lists the address; the connection is closed immediately';

/** @param moved says where the site is served now, if not here: the sender is asked to come later */
function matched(taker: OwnClient, why: string, moved: string | undefined): ClientMatch {
	const [outcome, reason] = moved === undefined ? (['match', why] as const) : (['moved', moved] as const);
	return { outcome, site: taker.site, client: { id: taker.id, name: taker.name }, reason };
}

function disabledOf({ name, site, client }: OwnClient): ClientMatch {
	return none(
		'disabled',
		client.active ? `'${name}' of ${site} matches, but the site is disabled` : `'${name}' of ${site} matches, but is disabled`,
	);
}

function isActive(client: IntegrationClient): boolean {
	return client.active && client.site.active;
}

function listsAddress({ allowedIps }: IntegrationClient, address: string): boolean {
	const bytes = parseAddress(address);
	return (
		bytes !== undefined &&
		allowedIps.some((text) => {
			const range = parseRange(text);
			return range !== undefined && rangeContains(range, bytes);
		})
	);
}

function fits(demanded: string | null | undefined, given: string): boolean {
	return !demanded || demanded === given;
}

function demandsOf({ sendingApplication, sendingFacility }: IntegrationClient): string {
	const demands = [sendingApplication ? `MSH-3 is '${sendingApplication}'` : '', sendingFacility ? `MSH-4 is '${sendingFacility}'` : ''];
	return demands.filter((text) => text !== '').join(' and ') || 'MSH-3 and MSH-4 may have any value';
}

async function matchAssociation(
	context: OperationContext,
	{ dicomSites, dicomClients, movedSites }: Snapshot,
	own: readonly OwnClient[],
	{ address, calling_ae: callingAe = '' }: Sender,
	called: string,
): Promise<ClientMatch> {
	const calledAe = called.trim();
	const site = await context.em.fork().findOne(Site, { aeTitle: calledAe });
	if (site === null || (context.visibleSites !== 'all' && !context.visibleSites.includes(site.slug))) {
		return none('called-unknown', 'no site has this called AE title');
	}
	const found = new AssociationIndex(dicomSites, dicomClients, context.allowAnySource).match(calledAe, callingAe.trim(), address);
	if (found.kind === 'called-unknown') return none('disabled', `the AE title belongs to ${site.slug}, which is disabled`);
	const near = own.filter(
		(each) => each.site === site.slug && each.client.protocols.includes('dicom') && listsAddress(each.client, address),
	);
	if (found.kind === 'accepted') {
		const taker = own.find(({ id }) => id === found.clientId);
		const granted = found.grants.has('query') ? 'may send and query' : 'may send';
		if (taker !== undefined)
			return matched(taker, `the address and the calling AE title match; the client ${granted}`, movedSites.get(site.id));
		const moved = movedSites.get(site.id);
		if (moved !== undefined) return { outcome: 'moved', site: site.slug, client: null, reason: moved };
		const reason = 'the site has no DICOM client; it accepts C-ECHO and C-STORE from loopback, or from anywhere if ALLOW_ANY_SOURCE is on';
		return { outcome: 'match', site: site.slug, client: null, reason };
	}
	const disabled = near.find(({ client }) => !isActive(client) && fits(client.callingAe, callingAe.trim()));
	if (disabled !== undefined) return disabledOf(disabled);
	const active = near.filter(({ client }) => isActive(client));
	if (active.length > 0) {
		const list = active.map(({ name, client }) => `'${name}': ${client.callingAe}`).join('; ');
		return none('calling-refused', `clients of ${site.slug} list the address, but with a different calling AE title: ${list}`);
	}
	const known = dicomSites.some(({ siteId, hasClients }) => siteId === site.id && hasClients);
	const text = known
		? `no active DICOM client of ${site.slug} lists the address`
		: `${site.slug} has no DICOM client, so only loopback may send`;
	return none('calling-refused', text);
}
