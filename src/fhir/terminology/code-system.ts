import type { CodeSystem, Concept } from './terms.ts';

/** A concept with its place among the others. */
export interface Placed {
	code: string;
	display: string;
	/** The concepts above it, the nearest first. */
	above: readonly string[];
	below: readonly Concept[];
}

/** A code system by code. It is made when a code system is first asked for. */
export class CodeIndex {
	readonly system: CodeSystem;
	readonly #concepts = new Map<string, Placed>();

	constructor(system: CodeSystem) {
		this.system = system;
		this.#add(system.concepts, []);
	}

	#add(concepts: readonly Concept[], above: readonly string[]): void {
		for (const [code, display = code, below = []] of concepts) {
			const key = this.#keyOf(code);
			if (!this.#concepts.has(key)) this.#concepts.set(key, { code, display, above, below });
			if (below.length > 0) this.#add(below, [code, ...above]);
		}
	}

	#keyOf(code: string): string {
		return this.system.exact ? code : code.toLowerCase();
	}

	find(code: string): Placed | undefined {
		return this.#concepts.get(this.#keyOf(code));
	}

	all(): Iterable<Placed> {
		return this.#concepts.values();
	}

	/** Returns a code and all below it; undefined when there is no such code. */
	withBelow(code: string): string[] | undefined {
		const found = this.find(code);
		return found === undefined ? undefined : [found.code, ...codesIn(found.below)];
	}
}

export function codesIn(concepts: readonly Concept[]): string[] {
	return concepts.flatMap(([code, , below = []]) => [code, ...codesIn(below)]);
}
