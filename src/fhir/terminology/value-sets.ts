import { Failure } from '#core/failure.ts';
import { CodeIndex, type Placed } from './code-system.ts';
import { Evaluation } from './evaluation.ts';
import type { CodeSystem, Concept, Filter, Include, ValueSet } from './terms.ts';

/** Finds code systems and value sets by their canonical URLs. */
export interface TermSource {
	codeSystem(canonical: string): CodeSystem | undefined;
	valueSet(canonical: string): ValueSet | undefined;
	/** The versions of what has a URL; of a definition without a version, undefined. */
	versions(kind: (CodeSystem | ValueSet)['kind'], url: string): readonly (string | undefined)[];
}

/** One code of an expansion. */
export interface Member {
	system: string;
	code: string;
	display: string;
}

/** Expands value sets, each once, with bounded work for all of them together; see `Terminology.expand`. */
export type Expansion = (canonical: string) => Member[] | undefined;

/** The largest expansion. What is larger belongs to a terminology server. */
const expansionMax = 50_000;
/** The codes and parts that the expansions of one question go through: ten times the largest expansion. */
const expansionStepsMax = 500_000;
/** The same for one code. A resource has many codes, and the sets of real profiles have some dozen parts. */
const memberStepsMax = 100_000;

/** Answers questions about codes from the definitions of a source. */
export class Terminology {
	readonly #source: TermSource;
	readonly #indexes = new WeakMap<CodeSystem, CodeIndex>();
	readonly #sets = new WeakMap<readonly Concept[], ReadonlyMap<string, string>>();
	readonly #passes = new WeakMap<Filter, (placed: Placed) => boolean | undefined>();

	constructor(source: TermSource) {
		this.#source = source;
	}

	valueSet(canonical: string): ValueSet | undefined {
		return this.#source.valueSet(canonical);
	}

	versions(...of: Parameters<TermSource['versions']>): readonly (string | undefined)[] {
		return this.#source.versions(...of);
	}

	codeSystem(canonical: string): CodeIndex | undefined {
		const system = this.#source.codeSystem(canonical);
		if (system === undefined) return undefined;
		let index = this.#indexes.get(system);
		if (index === undefined) {
			index = new CodeIndex(system);
			this.#indexes.set(system, index);
		}
		return index;
	}

	/**
	 * Tells whether a value set has a code; undefined when the definitions do not say it, or not within the work that one code is worth.
	 * Without a system, one of any system counts.
	 */
	member(canonical: string, system: string | undefined, code: string): boolean | undefined {
		const evaluation = new Evaluation<boolean>((named) => this.valueSet(named), memberStepsMax);
		try {
			return this.#has(canonical, system, code, evaluation);
		} catch (error) {
			if (error instanceof Failure && error.code === 'too-costly') return undefined;
			throw error;
		}
	}

	#has(canonical: string, system: string | undefined, code: string, evaluation: Evaluation<boolean>): boolean | undefined {
		return evaluation.of(canonical, (set) => {
			if (set.expansion !== undefined) {
				evaluation.spend(set.expansion.length);
				return set.expansion.some((part) => (system === undefined || part.system === system) && this.#listed(part.concepts).has(code));
			}
			const included = this.#anyOf(set.include ?? [], system, code, evaluation);
			if (included === false || set.exclude === undefined) return included;
			const excluded = this.#anyOf(set.exclude, system, code, evaluation);
			if (excluded === true) return false;
			return excluded === undefined ? undefined : included;
		});
	}

	#anyOf(parts: readonly Include[], system: string | undefined, code: string, evaluation: Evaluation<boolean>): boolean | undefined {
		let answer: boolean | undefined = false;
		for (const part of parts) {
			const is = this.#isIn(part, system, code, evaluation);
			if (is === true) return true;
			if (is === undefined) answer = undefined;
		}
		return answer;
	}

	#isIn(part: Include, system: string | undefined, code: string, evaluation: Evaluation<boolean>): boolean | undefined {
		evaluation.spend(1 + (part.filters?.length ?? 0));
		if (part.system !== undefined && system !== undefined && part.system !== system) return false;
		const answers = [
			...(part.valueSets ?? []).map((canonical) => this.#has(canonical, system, code, evaluation)),
			...(part.system === undefined ? [] : [this.#isOf(part.system, part, code, evaluation)]),
		];
		if (answers.includes(false) || answers.length === 0) return false;
		return answers.includes(undefined) ? undefined : true;
	}

	#isOf(system: string, { concepts, filters }: Include, code: string, evaluation: Evaluation<boolean>): boolean | undefined {
		if (concepts !== undefined) return this.#listed(concepts).has(code);
		evaluation.spendFinding();
		const index = this.codeSystem(system);
		if (index === undefined) return undefined;
		const found = index.find(code);
		if (found === undefined) return index.system.whole ? false : undefined;
		let answer: boolean | undefined = true;
		for (const filter of filters ?? []) {
			const is = this.#passed(found, filter);
			if (is === false) return false;
			if (is === undefined) answer = undefined;
		}
		return answer;
	}

	#listed(concepts: readonly Concept[]): ReadonlyMap<string, string> {
		let listed = this.#sets.get(concepts);
		if (listed === undefined) {
			listed = new Map(concepts.map(([code, display = '']) => [code, display]));
			this.#sets.set(concepts, listed);
		}
		return listed;
	}

	/** Returns what expands value sets for one question, such as all parameters of a search. */
	expansion(): Expansion {
		const evaluation = new Evaluation<Member[]>((named) => this.valueSet(named), expansionStepsMax);
		return (canonical) => this.#expand(canonical, evaluation);
	}

	/**
	 * Returns all codes of a value set in the order of its definition; undefined when the definitions do not list them in full.
	 * @throws Failure `too-costly` for sets that take too much work together
	 */
	expand(canonical: string): Member[] | undefined {
		return this.expansion()(canonical);
	}

	#expand(canonical: string, evaluation: Evaluation<Member[]>): Member[] | undefined {
		return evaluation.of(canonical, (set) => {
			if (set.expansion !== undefined) return set.expansion.flatMap((part) => this.#members(part.system, part.concepts, evaluation));
			const found = new Map<string, Member>();
			for (const part of set.include ?? []) {
				const members = this.#expandPart(part, evaluation);
				if (members === undefined) return undefined;
				evaluation.spend(members.length);
				for (const member of members) found.set(`${member.system}|${member.code}`, member);
				if (found.size > expansionMax) return undefined;
			}
			for (const part of set.exclude ?? []) {
				const members = this.#expandPart(part, evaluation);
				if (members === undefined) return undefined;
				evaluation.spend(members.length);
				for (const { system, code } of members) found.delete(`${system}|${code}`);
			}
			return [...found.values()];
		});
	}

	#expandPart({ system, concepts, filters, valueSets }: Include, evaluation: Evaluation<Member[]>): Member[] | undefined {
		evaluation.spend(1);
		const nested: Member[][] = [];
		for (const canonical of new Set(valueSets)) {
			const members = this.#expand(canonical, evaluation);
			if (members === undefined) return undefined;
			nested.push(members);
		}
		let members = system === undefined ? undefined : this.#expandSystem(system, concepts, filters, evaluation);
		if (system !== undefined && members === undefined) return undefined;
		for (const others of nested) {
			evaluation.spend(others.length + (members?.length ?? 0));
			const keys = new Set(others.map((member) => `${member.system}|${member.code}`));
			members = members === undefined ? others : members.filter((member) => keys.has(`${member.system}|${member.code}`));
		}
		return members ?? [];
	}

	#expandSystem(
		system: string,
		concepts: readonly Concept[] | undefined,
		filters: readonly Filter[] | undefined,
		evaluation: Evaluation<Member[]>,
	): Member[] | undefined {
		if (concepts !== undefined) return this.#members(system, concepts, evaluation);
		evaluation.spendFinding();
		const index = this.codeSystem(system);
		if (index === undefined || !index.system.whole) return undefined;
		const members: Member[] = [];
		for (const placed of index.all()) {
			evaluation.spend(1 + (filters?.length ?? 0));
			const answers = (filters ?? []).map((filter) => this.#passed(placed, filter));
			if (answers.includes(undefined)) return undefined;
			if (!answers.includes(false)) members.push({ system, code: placed.code, display: placed.display });
		}
		return members;
	}

	/** A value set may list codes without their displays, which the code system has. */
	#members(system: string, concepts: readonly Concept[], evaluation: Evaluation<Member[]>): Member[] {
		evaluation.spend(concepts.length);
		const isBare = concepts.some(([, display]) => display === undefined || display === '');
		if (isBare) evaluation.spendFinding();
		const index = isBare ? this.codeSystem(system) : undefined;
		return concepts.map(([code, display]) => ({ system, code, display: display || (index?.find(code)?.display ?? code) }));
	}

	#passed(placed: Placed, filter: Filter): boolean | undefined {
		let passes = this.#passes.get(filter);
		if (passes === undefined) {
			passes = passing(filter);
			this.#passes.set(filter, passes);
		}
		return passes(placed);
	}
}

/** Returns what tells whether a concept passes a filter; undefined for a filter on properties, which are not kept. */
function passing({ property, op, value }: Filter): (placed: Placed) => boolean | undefined {
	if (property !== 'concept' && property !== 'code') return () => undefined;
	switch (op) {
		case 'is-a':
			return ({ code, above }) => code === value || above.includes(value);
		case 'descendent-of':
			return ({ above }) => above.includes(value);
		case 'is-not-a':
			return ({ code, above }) => code !== value && !above.includes(value);
		case '=':
			return ({ code }) => code === value;
		case 'in':
		case 'not-in': {
			// The list may be long, and each code of a system is looked up in it.
			const listed = new Set(value.split(','));
			return ({ code }) => listed.has(code) === (op === 'in');
		}
		default:
			return () => undefined;
	}
}
