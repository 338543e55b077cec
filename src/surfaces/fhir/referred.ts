import type { SearchEntry } from '#fhir/bundle.ts';
import { namedByType } from '#fhir/named-rows.ts';
import type { ResourceDefinition } from '#fhir/resource.ts';
import { withinScopes } from '#fhir/scope-clause.ts';
import { scopeName } from '#record/scopes.ts';
import { type Included, namedResources } from '#storage/search.ts';
import type { Interacting } from './context.ts';
import { Collected, roundsMax } from './included.ts';

/** Tells whether resources of a type belong to nobody. One of another type may be in the record of another patient, who is not shown. */
export const isOfNobody = ({ table }: ResourceDefinition): boolean => table.compartment === 'none';

export interface Referred {
	entries: SearchEntry[];
	/** True when there are more than the limits of a page allow. */
	cut: boolean;
	/** Scopes that the caller lacks for some of them. */
	withheld: string[];
}

/** Returns the resources of these types, among those that belong to nobody, to which the entries refer, and to which those refer in turn. */
export async function referredBy(
	{ context, grant, base }: Pick<Interacting, 'context' | 'grant' | 'base'>,
	entries: readonly SearchEntry[],
	types: readonly ResourceDefinition[],
): Promise<Referred> {
	const { reader, limits } = context;
	const collected = new Collected([...entries], limits);
	const withheld = new Set<string>();
	const bounds = { rowsMax: limits.searchIncludesMax, bytesMax: limits.searchBytesMax, extent: 'whole' } as const;
	let from: readonly SearchEntry[] = entries;
	for (let round = 0; from.length > 0 && round < roundsMax && !collected.cut; round++) {
		const named = namedByType(from.map(({ stored }) => stored));
		const asked: Promise<Included>[] = [];
		for (const { type, table } of types) {
			const ids = named.get(type);
			if (ids === undefined) continue;
			const inclusion = withinScopes({ includedType: type, includedTable: table.table }, 'r', { scopes: grant.scopes, base, limits });
			if (inclusion === undefined) withheld.add(scopeName(type, 'r'));
			else asked.push(namedResources(reader, grant.siteId, inclusion, [...ids], bounds));
		}
		from = collected.add(await Promise.all(asked));
		collected.cut ||= collected.isHeavy;
	}
	return { entries: collected.entries.slice(entries.length), cut: collected.cut, withheld: [...withheld] };
}
