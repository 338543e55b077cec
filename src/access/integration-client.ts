import { type AddressRange, parseRange } from '#core/address.ts';
import type { ClientGrant } from './directory.ts';

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
