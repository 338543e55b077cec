import { randomSource } from '../../bench/corpus.ts';

/** Chance that can be repeated: the same seed gives the same numbers. */
export class Seeded {
	/** The number is at least 0 and less than 1. */
	readonly share: () => number;

	constructor(seed: number) {
		this.share = randomSource(seed);
	}

	/** A whole number from 0 up to but not including `end`. */
	below(end: number): number {
		return Math.floor(this.share() * end);
	}

	between(low: number, high: number): number {
		return low + this.share() * (high - low);
	}

	of<T>(list: readonly T[]): T {
		const chosen = list[this.below(list.length)];
		if (chosen === undefined) throw new Error('there is nothing to choose from');
		return chosen;
	}

	shuffled<T>(list: readonly T[]): T[] {
		const left = [...list];
		const order: T[] = [];
		while (left.length > 0) order.push(...left.splice(this.below(left.length), 1));
		return order;
	}
}
