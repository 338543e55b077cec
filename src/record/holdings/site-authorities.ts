import type { HeldRows } from '../apply/held-rows.ts';
import { type Holding, noKeys } from '../apply/holding.ts';
import { type Authorities, type AuthorityAlias, noAliases } from '../identity/authorities.ts';

const current = 'current';

/** The names of assigning authorities of a site, as they are known, with those that the batch learns. */
export class SiteAuthorities {
	readonly #rows: HeldRows;
	readonly #held = new Map<typeof current, Authorities>();
	/** Aliases that are new, or do not hold any more. */
	readonly changed: AuthorityAlias[] = [];

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	get known(): Authorities {
		return this.#held.get(current) ?? noAliases;
	}

	/** Takes over what is stored. */
	use(known: Authorities): void {
		this.#held.set(current, known);
	}

	put(alias: AuthorityAlias): void {
		this.#rows.undo.put(this.#held, current, this.known.with(alias));
		this.#rows.undo.push(this.changed, alias);
	}
}

export const siteAuthorities: Holding<undefined, SiteAuthorities> = {
	name: 'site authorities',
	keys: noKeys,
	held: (rows) => new SiteAuthorities(rows),
};
