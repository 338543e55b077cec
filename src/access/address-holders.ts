import type { AddressRange } from '#core/address.ts';
import { RangeIndex } from './range-index.ts';

/** The addresses that an integration client lists, of any protocol, whether it is active or not. */
export interface ListedAddresses {
	siteId: string;
	ranges: readonly AddressRange[];
}

/**
 * Tells whose an address is. A client that is disabled, or whose site is, still has its addresses: what its sender goes on sending must
 * not become another site's because nobody takes it at the moment.
 */
export class AddressHolders {
	readonly #sites = new RangeIndex<Set<string>>(() => new Set());

	constructor(listed: readonly ListedAddresses[]) {
		for (const { siteId, ranges } of listed) {
			for (const range of ranges) for (const sites of this.#sites.of(range)) sites.add(siteId);
		}
	}

	/** Returns the site whose clients alone list the address, in ranges of any length; undefined where there is none or another one. */
	siteAt(address: string): string | undefined {
		const [only, ...others] = new Set([...this.#sites.containing(address)].flatMap((sites) => [...sites]));
		return others.length === 0 ? only : undefined;
	}
}
