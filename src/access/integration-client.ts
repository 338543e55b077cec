import { type AddressRange, isAnySource, parseRange } from '#core/address.ts';
import type { ClientGrant } from './directory.ts';

export interface IntegrationClient {
	grant: ClientGrant;
	protocols: readonly string[];
	ranges: readonly AddressRange[];
	/** If undefined, the field is not checked. */
	sendingApplication: string | undefined;
	sendingFacility: string | undefined;
	/** Makes the choice independent of the order of rows. */
	createdAt: string;
}

/** Reads the allowed addresses. `*` and what is nearly as wide count only if the policy allows any source. Invalid entries are skipped. */
export function rangesOf(entries: readonly string[], allowAnySource: boolean): AddressRange[] {
	return entries
		.map((entry) => parseRange(entry))
		.filter((range) => range !== undefined && (allowAnySource || !isAnySource(range))) as AddressRange[];
}
