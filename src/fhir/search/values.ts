import { Failure } from '#core/failure.ts';

/** Counts the values of a search. What a value is divided into before it is looked for, such as words, counts as values, too. */
export class SearchValues {
	readonly max: number;
	#count = 0;

	constructor(max: number) {
		this.max = max;
	}

	/** @throws Failure `invalid` when there are more than a search may have */
	add(count: number): void {
		this.#count += count;
		if (this.#count > this.max) throw new Failure('invalid', `a search may have at most ${this.max} values`);
	}
}
