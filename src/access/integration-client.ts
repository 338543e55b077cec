import { type AddressRange, parseAddress, parseRange, rangeContains } from '#core/address.ts';
import type { ClientGrant, SenderMatch } from './directory.ts';

export interface IntegrationClient {
	grant: ClientGrant;
	protocols: readonly string[];
	ranges: readonly AddressRange[];
	/** Undefined: not checked. */
	sendingApplication: string | undefined;
	sendingFacility: string | undefined;
	/** For a choice that does not depend on the order of rows. */
	createdAt: string;
}

/** Reads the allowed addresses; `*` counts only where the policy allows any source. Entries that are none are left out. */
export function rangesOf(entries: readonly string[], allowAnySource: boolean): AddressRange[] {
	return entries
		.map((entry) => parseRange(entry))
		.filter((range) => range !== undefined && (allowAnySource || range.text !== '*')) as AddressRange[];
}

interface Candidate {
	client: IntegrationClient;
	prefixBits: number;
}

function candidates(clients: readonly IntegrationClient[], address: string): Candidate[] {
	const bytes = parseAddress(address);
	if (bytes === undefined) return [];
	const found: Candidate[] = [];
	for (const client of clients) {
		let prefixBits = -1;
		for (const range of client.ranges) if (rangeContains(range, bytes)) prefixBits = Math.max(prefixBits, range.prefixBits);
		if (prefixBits >= 0) found.push({ client, prefixBits });
	}
	return found;
}

export function mayConnect(clients: readonly IntegrationClient[], address: string): boolean {
	return candidates(clients, address).length > 0;
}

/**
 * The client that a message belongs to: the longer address prefix first, since MSH is the sender's own word, then both
 * MSH fields set, one, none.
 */
export function matchClient(clients: readonly IntegrationClient[], address: string, application: string, facility: string): SenderMatch {
	const byAddress = candidates(clients, address);
	if (byAddress.length === 0) return { kind: 'no-address' };
	const fitting = byAddress.filter(({ client }) => fits(client.sendingApplication, application) && fits(client.sendingFacility, facility));
	if (fitting.length === 0) return { kind: 'no-sender' };
	const best = Math.max(...fitting.map(rank));
	const winners = fitting.filter((candidate) => rank(candidate) === best).map(({ client }) => client);
	const sites = new Set(winners.map(({ grant }) => grant.siteId));
	if (sites.size > 1) return { kind: 'tie' };
	const [first] = winners.sort(
		(left, right) => compare(left.createdAt, right.createdAt) || compare(left.grant.clientId, right.grant.clientId),
	);
	return first ? { kind: 'match', grant: first.grant } : { kind: 'no-sender' };
}

function fits(expected: string | undefined, given: string): boolean {
	return expected === undefined || expected === given;
}

function rank({ client, prefixBits }: Candidate): number {
	return prefixBits * 4 + (client.sendingApplication === undefined ? 0 : 1) + (client.sendingFacility === undefined ? 0 : 1);
}

function compare(left: string, right: string): number {
	return left < right ? -1 : left > right ? 1 : 0;
}
