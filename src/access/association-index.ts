import { type AddressRange, isLoopback, parseAddress, rangeContains } from '#core/address.ts';
import type { Settings } from '#record/settings/settings.ts';
import type { AssociationMatch } from './directory.ts';

/** An integration client with the protocol `dicom`. */
export interface DicomClient {
	clientId: string;
	siteId: string;
	/** The settings of the client, else of its site. */
	settings: Settings;
	ranges: readonly AddressRange[];
	/** If undefined, the calling AE title is not checked. */
	callingAe: string | undefined;
	/** The permissions beyond sending. */
	grants: ReadonlySet<string>;
	/** Makes the choice independent of the order of rows. */
	createdAt: string;
}

/** An active site that has an AE title. */
export interface DicomSite {
	siteId: string;
	siteSlug: string;
	aeTitle: string;
	/** Inactive clients count too, so that disabling the last client does not open the site. */
	hasClients: boolean;
	settings: Settings;
}

const nothingMore: ReadonlySet<string> = new Set();

/** Finds the site that a called AE title names, and whether the caller may send to it. */
export class AssociationIndex {
	readonly #sites = new Map<string, { site: DicomSite; clients: DicomClient[] }>();
	readonly #allowAnySource: boolean;

	constructor(sites: readonly DicomSite[], clients: readonly DicomClient[], allowAnySource: boolean) {
		this.#allowAnySource = allowAnySource;
		for (const site of sites) {
			const own = clients.filter(({ siteId }) => siteId === site.siteId);
			this.#sites.set(site.aeTitle, { site, clients: own });
		}
	}

	/** A site without clients accepts nearby senders. Among matching clients the most specific address wins, then a set AE title. */
	match(calledAe: string, callingAe: string, address: string): AssociationMatch {
		const held = this.#sites.get(calledAe);
		if (held === undefined) return { kind: 'called-unknown' };
		const { siteId, siteSlug, hasClients, settings } = held.site;
		const bytes = parseAddress(address);
		if (bytes === undefined) return { kind: 'calling-refused', siteId };
		if (!hasClients) {
			if (!this.#allowAnySource && !isLoopback(bytes)) return { kind: 'calling-refused', siteId };
			return { kind: 'accepted', siteId, siteSlug, clientId: undefined, settings, grants: nothingMore };
		}
		const fitting = held.clients
			.filter((client) => client.callingAe === undefined || client.callingAe === callingAe)
			.flatMap((client) =>
				client.ranges.filter((range) => rangeContains(range, bytes)).map((range) => ({ client, bits: range.prefixBits })),
			)
			.sort((left, right) => right.bits - left.bits || rank(left.client) - rank(right.client) || compareAge(left.client, right.client));
		const client = fitting[0]?.client;
		if (client === undefined) return { kind: 'calling-refused', siteId };
		return { kind: 'accepted', siteId, siteSlug, clientId: client.clientId, settings: client.settings, grants: client.grants };
	}
}

function rank({ callingAe }: DicomClient): number {
	return callingAe === undefined ? 1 : 0;
}

function compareAge(left: DicomClient, right: DicomClient): number {
	if (left.createdAt !== right.createdAt) return left.createdAt < right.createdAt ? -1 : 1;
	return left.clientId < right.clientId ? -1 : 1;
}
