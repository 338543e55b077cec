import { CodeIndex, type Placed } from './code-system.ts';
import type { CodeSystem, Concept, Filter, Include, ValueSet } from './terms.ts';

/** Finds code systems and value sets by their canonical URLs. */
export interface TermSource {
	codeSystem(canonical: string): CodeSystem | undefined;
	valueSet(canonical: string): ValueSet | undefined;
}

/** One code of an expansion. */
export interface Member {
	system: string;
	code: string;
	display: string;
}

/** Value sets may refer to one another. A longer chain has a circle. */
const nestingMax = 20;
/** The largest expansion. What is larger belongs to a terminology server. */
const expansionMax = 50_000;

/** Answers questions about codes from the definitions of a source. */
export class Terminology {
	readonly #source: TermSource;
	readonly #indexes = new WeakMap<CodeSystem, CodeIndex>();
	readonly #sets = new WeakMap<readonly Concept[], ReadonlyMap<string, string>>();

	constructor(source: TermSource) {
		this.#source = source;
	}

	valueSet(canonical: string): ValueSet | undefined {
		return this.#source.valueSet(canonical);
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

	/** Tells whether a value set has a code; undefined when the definitions do not say it. Without a system, one of any system counts. */
	member(canonical: string, system: string | undefined, code: string, nesting = 0): boolean | undefined {
		const set = nesting > nestingMax ? undefined : this.valueSet(canonical);
		if (set === undefined) return undefined;
		if (set.expansion !== undefined) {
			return set.expansion.some((part) => (system === undefined || part.system === system) && this.#listed(part.concepts).has(code));
		}
		const included = this.#anyOf(set.include ?? [], system, code, nesting);
		if (included === false || set.exclude === undefined) return included;
		const excluded = this.#anyOf(set.exclude, system, code, nesting);
		if (excluded === true) return false;
		return excluded === undefined ? undefined : included;
	}

	#anyOf(parts: readonly Include[], system: string | undefined, code: string, nesting: number): boolean | undefined {
		let answer: boolean | undefined = false;
		for (const part of parts) {
			const is = this.#isIn(part, system, code, nesting);
			if (is === true) return true;
			if (is === undefined) answer = undefined;
		}
		return answer;
	}

	#isIn(part: Include, system: string | undefined, code: string, nesting: number): boolean | undefined {
		if (part.system !== undefined && system !== undefined && part.system !== system) return false;
		const answers = [
			...(part.valueSets ?? []).map((canonical) => this.member(canonical, system, code, nesting + 1)),
			...(part.system === undefined ? [] : [this.#isOf(part.system, part, code)]),
		];
		if (answers.includes(false) || answers.length === 0) return false;
		return answers.includes(undefined) ? undefined : true;
	}

	#isOf(system: string, { concepts, filters }: Include, code: string): boolean | undefined {
		if (concepts !== undefined) return this.#listed(concepts).has(code);
		const index = this.codeSystem(system);
		if (index === undefined) return undefined;
		const found = index.find(code);
		if (found === undefined) return index.system.whole ? false : undefined;
		let answer: boolean | undefined = true;
		for (const filter of filters ?? []) {
			const is = passes(found, filter);
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

	/** Returns all codes of a value set in the order of its definition; undefined when the definitions do not list them in full. */
	expand(canonical: string, nesting = 0): Member[] | undefined {
		const set = nesting > nestingMax ? undefined : this.valueSet(canonical);
		if (set === undefined) return undefined;
		if (set.expansion !== undefined) return set.expansion.flatMap(({ system, concepts }) => this.#members(system, concepts));
		const found = new Map<string, Member>();
		for (const part of set.include ?? []) {
			const members = this.#expandPart(part, nesting);
			if (members === undefined) return undefined;
			for (const member of members) found.set(`${member.system}|${member.code}`, member);
			if (found.size > expansionMax) return undefined;
		}
		for (const part of set.exclude ?? []) {
			const members = this.#expandPart(part, nesting);
			if (members === undefined) return undefined;
			for (const { system, code } of members) found.delete(`${system}|${code}`);
		}
		return [...found.values()];
	}

	#expandPart({ system, concepts, filters, valueSets }: Include, nesting: number): Member[] | undefined {
		const nested = (valueSets ?? []).map((canonical) => this.expand(canonical, nesting + 1));
		if (nested.includes(undefined)) return undefined;
		let members = system === undefined ? undefined : this.#expandSystem(system, concepts, filters);
		if (system !== undefined && members === undefined) return undefined;
		for (const others of nested) {
			const keys = new Set(others?.map((member) => `${member.system}|${member.code}`));
			members = members === undefined ? others : members.filter((member) => keys.has(`${member.system}|${member.code}`));
		}
		return members ?? [];
	}

	#expandSystem(system: string, concepts: readonly Concept[] | undefined, filters: readonly Filter[] | undefined): Member[] | undefined {
		if (concepts !== undefined) return this.#members(system, concepts);
		const index = this.codeSystem(system);
		if (index === undefined || !index.system.whole) return undefined;
		const members: Member[] = [];
		for (const placed of index.all()) {
			const answers = (filters ?? []).map((filter) => passes(placed, filter));
			if (answers.includes(undefined)) return undefined;
			if (!answers.includes(false)) members.push({ system, code: placed.code, display: placed.display });
		}
		return members;
	}

	/** A value set may list codes without their displays, which the code system has. */
	#members(system: string, concepts: readonly Concept[]): Member[] {
		const index = concepts.some(([, display]) => display === undefined || display === '') ? this.codeSystem(system) : undefined;
		return concepts.map(([code, display]) => ({ system, code, display: display || (index?.find(code)?.display ?? code) }));
	}
}

/** Tells whether a concept passes a filter; undefined for a filter on properties, which are not kept. */
function passes({ code, above }: Placed, { property, op, value }: Filter): boolean | undefined {
	if (property !== 'concept' && property !== 'code') return undefined;
	switch (op) {
		case 'is-a':
			return code === value || above.includes(value);
		case 'descendent-of':
			return above.includes(value);
		case 'is-not-a':
			return code !== value && !above.includes(value);
		case '=':
			return code === value;
		case 'in':
			return value.split(',').includes(code);
		case 'not-in':
			return !value.split(',').includes(code);
		default:
			return undefined;
	}
}
