import { Failure } from '#core/failure.ts';
import type { ValueSet } from './terms.ts';

/** Value sets may refer to one another, a few levels deep in practice. */
const nestingMax = 20;
/** To find a definition by its canonical costs so many steps: all definitions of its URL are gone through, and a site may load thousands. */
const findingSteps = 100;

/**
 * The work of one question about value sets. Each set is evaluated once, however often others refer to it, and all of it together takes at
 * most `stepsMax` steps. Sets that a site has loaded may refer to each other as they like, so nothing else bounds that work.
 */
export class Evaluation<Answer> {
	readonly #find: (canonical: string) => ValueSet | undefined;
	readonly #sets = new Map<string, ValueSet | undefined>();
	readonly #answers = new Map<ValueSet, Answer | undefined>();
	#nesting = 0;
	#left: number;

	constructor(find: (canonical: string) => ValueSet | undefined, stepsMax: number) {
		this.#find = find;
		this.#left = stepsMax;
	}

	/** @throws Failure `too-costly` when no steps are left */
	spend(steps: number): void {
		this.#left -= steps;
		if (this.#left < 0) {
			this.#left = 0;
			throw new Failure('too-costly', 'the value set, with those to which it refers, is too large to be evaluated here');
		}
	}

	/** @throws Failure `too-costly` when no steps are left for finding a definition */
	spendFinding(): void {
		this.spend(findingSteps);
	}

	/** Answers for a value set. One that is unknown, nested too deep, or a part of itself has no answer. */
	of(canonical: string, evaluate: (set: ValueSet) => Answer | undefined): Answer | undefined {
		this.spend(1);
		const set = this.#setOf(canonical);
		if (set === undefined) return undefined;
		// Several canonicals may name one set, so the set is what is remembered. Until it has an answer, it is not known to itself.
		if (this.#answers.has(set)) return this.#answers.get(set);
		if (this.#nesting > nestingMax) return undefined;
		this.#answers.set(set, undefined);
		this.#nesting++;
		try {
			const answer = evaluate(set);
			this.#answers.set(set, answer);
			return answer;
		} finally {
			this.#nesting--;
		}
	}

	#setOf(canonical: string): ValueSet | undefined {
		if (!this.#sets.has(canonical)) {
			this.spendFinding();
			this.#sets.set(canonical, this.#find(canonical));
		}
		return this.#sets.get(canonical);
	}
}
