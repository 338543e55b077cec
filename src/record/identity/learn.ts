import type { ApplyContext } from '../apply/context.ts';
import { siteAuthorities } from '../holdings/site-authorities.ts';
import { ordered } from './authorities.ts';
import { recordDoubt } from './doubt.ts';
import { isIndexable } from './identifier-key.ts';

/** A site has few authorities. A sender that states ever new ones teaches no more than these. */
const aliasesMax = 500;

/** A name of an assigning authority and its universal id, which an identifier states together; both are FHIR system URIs. */
export interface StatedAuthority {
	readonly name: string;
	readonly universal: string;
}

/**
 * Takes over that a name and a universal id are one authority. If the name was stated with another universal id before, it means two
 * authorities: then neither alias is used, and a doubt is listed. What a person decided stays. Names that no index can hold teach nothing.
 */
export function learnAuthority(context: ApplyContext, { name, universal }: StatedAuthority): void {
	if (!isIndexable(name, universal)) return;
	const held = context.set.of(siteAuthorities);
	const { known } = held;
	if (known.alias(name, universal) !== undefined || known.aliases.length >= aliasesMax) return;
	const others = known.aliases.filter((alias) => alias.origin === 'learned' && (alias.system === name || alias.other === name));
	const alias = { ...ordered(name, universal), origin: 'learned' } as const;
	if (others.length === 0) {
		held.put({ ...alias, holds: true });
		return;
	}
	for (const other of others) if (other.holds) held.put({ ...other, holds: false });
	held.put({ ...alias, holds: false });
	recordDoubt(context, {
		kind: 'authority-meanings',
		key: [name],
		text: 'a name of an assigning authority was stated with several universal ids; it is compared with none of them',
	});
}
