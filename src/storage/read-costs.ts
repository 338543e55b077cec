import { slowMs } from './read-slots.ts';

/** So long a statement is expected to take at least that is planned for its values, in ms. */
const plannedMs = 2;
/** The weight of the newest duration. */
const weight = 0.1;
/** A single long one must not count for hundreds of short ones behind it. */
const sampleMsMax = 100;
/** There are as many searches as there are combinations of parameters. */
const seenMax = 1024;

/** The texts of statements without a name are as many, and longer. */
const textsMax = 256;

/** A statement as far as its costs depend on it. */
interface Costing {
	readonly name: string | undefined;
	readonly text: string;
}

/** How long reads take in the database, by the names of their statements. */
export class ReadCosts {
	readonly #named = new Known(seenMax);
	readonly #unnamed = new Known(textsMax);

	/** Returns the milliseconds that a statement is expected to take. One that nobody has seen yet may be slow. */
	expectedMs({ name, text }: Costing): number {
		return name === undefined ? Math.max(this.#unnamed.of(text) ?? slowMs, plannedMs) : (this.#named.of(name) ?? slowMs);
	}

	/** Learns how long one took. */
	took(statement: Costing, ms: number): void {
		const before = this.#of(statement);
		const sample = Math.min(ms, sampleMsMax);
		this.#set(statement, before === undefined ? sample : before + weight * (sample - before));
	}

	/** Learns that one takes so long already. */
	takes(statement: Costing, ms: number): void {
		const sample = Math.min(ms, sampleMsMax);
		if (sample > (this.#of(statement) ?? 0)) this.#set(statement, sample);
	}

	#of({ name, text }: Costing): number | undefined {
		return name === undefined ? this.#unnamed.of(text) : this.#named.of(name);
	}

	#set({ name, text }: Costing, ms: number): void {
		if (name === undefined) this.#unnamed.set(text, ms);
		else this.#named.set(name, ms);
	}
}

/** A bounded number of what is known. */
class Known {
	readonly #ms = new Map<string, number>();
	readonly #most: number;

	constructor(most: number) {
		this.#most = most;
	}

	of(key: string): number | undefined {
		return this.#ms.get(key);
	}

	set(key: string, ms: number): void {
		if (this.#ms.size >= this.#most && !this.#ms.has(key)) this.#ms.clear();
		this.#ms.set(key, ms);
	}
}
