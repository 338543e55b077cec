import type { ConnectionOwner, SenderMatch } from './directory.ts';
import type { IntegrationClient } from './integration-client.ts';
import { entryOf, RangeIndex } from './range-index.ts';

/** The clients of one address range by the MSH-3 and MSH-4 that they require. Undefined stands for no requirement. */
type BySender = Map<string | undefined, Map<string | undefined, IntegrationClient[]>>;

/**
 * Finds the client of a message. The cost of a look-up grows with the number of distinct prefix lengths and not with the number of
 * clients, even if one interface engine sends for all sites from one address.
 */
export class ClientIndex {
	readonly #senders = new RangeIndex<BySender>(() => new Map());

	constructor(clients: readonly IntegrationClient[]) {
		// Among equally specific clients of one site the oldest wins, independent of the order of rows.
		for (const client of clients.toSorted(byAge)) {
			for (const range of client.ranges) {
				for (const senders of this.#senders.of(range)) {
					const facilities = entryOf(senders, client.sendingApplication, () => new Map<string | undefined, IntegrationClient[]>());
					entryOf(facilities, client.sendingFacility, (): IntegrationClient[] => []).push(client);
				}
			}
		}
	}

	mayConnect(address: string): boolean {
		for (const _range of this.#senders.containing(address)) return true;
		return false;
	}

	/**
	 * Returns for whom a connection from this address counts before it has sent anything: the client and the site that the longest prefix
	 * means, as far as it means one alone.
	 */
	ownerAt(address: string): ConnectionOwner {
		for (const range of this.#senders.containing(address)) {
			const clients = [...range.values()].flatMap((facilities) => [...facilities.values()].flat());
			const only = (of: (client: IntegrationClient) => string) => {
				const [first, ...others] = new Set(clients.map(of));
				return others.length === 0 ? first : undefined;
			};
			return { clientId: only(({ grant }) => grant.clientId), siteId: only(({ grant }) => grant.siteId) };
		}
		return { clientId: undefined, siteId: undefined };
	}

	/** The longer address prefix wins, because the sender chooses the MSH fields. Then a client with both fields set wins, then one, then none. */
	match(address: string, application: string, facility: string): SenderMatch {
		let kind: 'no-address' | 'no-sender' = 'no-address';
		for (const range of this.#senders.containing(address)) {
			kind = 'no-sender';
			const both = clientsOf(range, application, facility);
			if (both.length > 0) return matchOf(both);
			const one = [...clientsOf(range, application, undefined), ...clientsOf(range, undefined, facility)].sort(byAge);
			if (one.length > 0) return matchOf(one);
			const none = clientsOf(range, undefined, undefined);
			if (none.length > 0) return matchOf(none);
		}
		return { kind };
	}
}

function clientsOf(range: BySender, application: string | undefined, facility: string | undefined): readonly IntegrationClient[] {
	return range.get(application)?.get(facility) ?? [];
}

/** Sorts equally specific clients by age, oldest first. */
function matchOf(equals: readonly IntegrationClient[]): SenderMatch {
	const [first] = equals;
	if (first === undefined) return { kind: 'no-sender' };
	return equals.every(({ grant }) => grant.siteId === first.grant.siteId) ? { kind: 'match', grant: first.grant } : { kind: 'tie' };
}

function byAge(left: IntegrationClient, right: IntegrationClient): number {
	return compare(left.createdAt, right.createdAt) || compare(left.grant.clientId, right.grant.clientId);
}

function compare(left: string, right: string): number {
	return left < right ? -1 : left > right ? 1 : 0;
}
