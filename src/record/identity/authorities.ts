/** Two systems of identifiers that are one assigning authority. */
export interface AuthorityAlias {
	readonly system: string;
	readonly other: string;
	/** False when a person ended it, or a name was stated with several OIDs. It is known, so it is not learned again. */
	readonly holds: boolean;
	/** `learned`: a sender stated both in one identifier. `person`: somebody joined them. */
	readonly origin: 'learned' | 'person';
}

/** The assigning authorities of a site that have several names. It never changes. */
export class Authorities {
	readonly aliases: readonly AuthorityAlias[];
	/** One name for each system that has others. */
	readonly #named = new Map<string, string>();
	readonly #byPair = new Map<string, AuthorityAlias>();

	constructor(aliases: readonly AuthorityAlias[]) {
		this.aliases = aliases;
		for (const alias of aliases) {
			this.#byPair.set(pairOf(alias.system, alias.other), alias);
			if (alias.holds) this.#join(alias.system, alias.other);
		}
	}

	isSame(system: string, other: string): boolean {
		return system === other || this.nameOf(system) === this.nameOf(other);
	}

	/** Returns the one name that stands for all systems of an authority. */
	nameOf(system: string): string {
		return this.#named.get(system) ?? system;
	}

	/** Returns all names of the authority that has this one. */
	systemsOf(system: string): string[] {
		const name = this.#named.get(system);
		return name === undefined ? [system] : [...this.#named].filter(([, held]) => held === name).map(([member]) => member);
	}

	/** Returns the alias of the two systems, whether it holds or not. */
	alias(system: string, other: string): AuthorityAlias | undefined {
		return this.#byPair.get(pairOf(system, other));
	}

	/** Returns these aliases with one more, in place of the one about the same systems. */
	with(alias: AuthorityAlias): Authorities {
		const held = this.alias(alias.system, alias.other);
		return new Authorities([...this.aliases.filter((other) => other !== held), alias]);
	}

	#join(system: string, other: string): void {
		const [from, to] = [this.nameOf(system), this.nameOf(other)];
		if (from === to) return;
		const [name, former] = from < to ? [from, to] : [to, from];
		for (const [member, held] of this.#named) if (held === former) this.#named.set(member, name);
		for (const member of [system, other, former]) this.#named.set(member, name);
	}
}

export const noAliases = new Authorities([]);

function pairOf(system: string, other: string): string {
	return system < other ? `${system.length} ${system}${other}` : `${other.length} ${other}${system}`;
}

/** Two systems in the order in which they are stored. */
export function ordered(system: string, other: string): { system: string; other: string } {
	return system < other ? { system, other } : { system: other, other: system };
}
