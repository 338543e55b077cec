/** Doubts about who a patient is, as the product's documents name them (ARCHITECTURE.md "Who a patient is"). It imports nothing of the product. */

export type DoubtKind =
	| 'identifiers-disagree'
	| 'number-shared'
	| 'number-ambiguous'
	| 'mismatch'
	| 'authority-meanings'
	| 'unmatched-study'
	| 'other-patient';

/** The facts that a work list shows of a doubt. */
export interface DoubtFacts {
	readonly kind: DoubtKind;
	/** Records of the model; none, one or two of them. */
	readonly patients?: readonly number[];
	readonly study?: string;
	/** Of an image of another patient: the number that it states. */
	readonly number?: string;
}

/** How often a doubt was raised, and how often it still is on the list. */
interface Counted extends DoubtFacts {
	count: number;
	isOpen: boolean;
}

/** The work list of a site: what is settled can come back. */
export class DoubtList {
	readonly #doubts = new Map<string, Counted>();

	/** `key`: what makes it the same doubt when it comes again. */
	raise(facts: DoubtFacts, key: readonly unknown[]): void {
		const text = JSON.stringify([facts.kind, ...key]);
		this.#doubts.set(text, { ...facts, count: (this.#doubts.get(text)?.count ?? 0) + 1, isOpen: true });
	}

	settle(isMended: (facts: DoubtFacts) => boolean): void {
		for (const doubt of this.#doubts.values()) if (isMended(doubt)) doubt.isOpen = false;
	}

	get all(): readonly Readonly<Counted>[] {
		return [...this.#doubts.values()];
	}
}
