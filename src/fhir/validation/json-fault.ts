import { pathOf } from './expression.ts';
import { resourceTypes } from './schemas/resource-types.ts';

/** The first place at which a text is not JSON in the form that FHIR allows. */
export interface JsonFault {
	/** A sentence that quotes nothing of the text. */
	what: string;
	/** The offset from the start in UTF-16 units. */
	offset: number;
	/** The element at that place, or '' outside of any. */
	expression: string;
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const literal = /true|false|null/y;
const space = /[ \t\n\r]*/y;
/** Matches a run of characters of a string that need no further check. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 §7 excludes exactly these.
const plain = /[^"\\\u0000-\u001f\ud800-\udfff]*/y;
const unicodeEscape = /\\u([0-9a-fA-F]{4})/y;
const simpleEscape = /\\["\\/bfnrt]/y;

/**
 * Checks text by the grammar of RFC 8259 without building values, with the further rules of `parseResourceJson`. It is slower than
 * JSON.parse
 * and called only to find out where and why that failed.
 */
export function findJsonFault(text: string, depthMax: number): JsonFault | undefined {
	const reader = new FaultFinder(text, depthMax);
	try {
		reader.document();
		return undefined;
	} catch (fault) {
		if (fault instanceof FoundFault) return { what: fault.what, offset: fault.offset, expression: reader.expression() };
		throw fault;
	}
}

class FoundFault {
	readonly what: string;
	readonly offset: number;

	constructor(what: string, offset: number) {
		this.what = what;
		this.offset = offset;
	}
}

class FaultFinder {
	readonly #text: string;
	readonly #depthMax: number;
	/** Member names and list positions that lead to where it reads. */
	readonly #path: (string | number)[] = [];
	#type = '';
	#depth = 0;
	#at = 0;

	constructor(text: string, depthMax: number) {
		this.#text = text;
		this.#depthMax = depthMax;
	}

	expression(): string {
		return this.#type === '' ? '' : pathOf(this.#type, this.#path);
	}

	document(): void {
		this.#space();
		this.#value();
		if (this.#at < this.#text.length) this.#fail('Not JSON: something follows the end of the value');
	}

	#fail(what: string, offset = this.#at): never {
		throw new FoundFault(what, offset);
	}

	#space(): void {
		this.#take(space);
	}

	/** Reads a pattern at the current place. Returns false, and reads nothing, when it does not match. */
	#take(pattern: RegExp): boolean {
		pattern.lastIndex = this.#at;
		if (!pattern.test(this.#text)) return false;
		this.#at = pattern.lastIndex;
		return true;
	}

	#takeMark(mark: string): boolean {
		if (this.#text[this.#at] !== mark) return false;
		this.#at++;
		this.#space();
		return true;
	}

	/** Reads a value and the white space after it. */
	#value(): string | undefined {
		let read: string | undefined;
		const mark = this.#text[this.#at];
		if (mark === '{') this.#nested(() => this.#object());
		else if (mark === '[') this.#nested(() => this.#list());
		else if (mark === '"') read = this.#string();
		else if (mark === undefined) this.#fail('Not JSON: the text ends early');
		else if (!this.#take(literal) && !this.#take(number)) this.#fail('Not JSON: a value is expected');
		this.#space();
		return read;
	}

	#nested(read: () => void): void {
		if (++this.#depth > this.#depthMax) this.#fail(`Objects and lists may be nested ${this.#depthMax} deep`);
		this.#takeMark(this.#text[this.#at] ?? '');
		read();
		this.#depth--;
	}

	#object(): void {
		const names = new Set<string>();
		if (this.#takeMark('}')) return;
		do {
			this.#member(names);
		} while (this.#takeMark(','));
		if (!this.#takeMark('}')) this.#expected('a comma or the end of an object');
	}

	#member(names: Set<string>): void {
		const start = this.#at;
		if (this.#text[start] !== '"') this.#expected('the name of a member');
		const name = this.#string();
		if (name === '__proto__') this.#fail('No element has this name', start);
		if (names.has(name)) this.#fail('A name occurs twice in one object', start);
		names.add(name);
		this.#space();
		if (!this.#takeMark(':')) this.#expected('a colon');
		this.#path.push(name);
		const value = this.#value();
		if (this.#depth === 1 && name === 'resourceType' && resourceTypes.has(value ?? '')) this.#type = value ?? '';
		this.#path.pop();
	}

	#list(): void {
		if (this.#takeMark(']')) return;
		let index = 0;
		do {
			this.#path.push(index++);
			this.#value();
			this.#path.pop();
		} while (this.#takeMark(','));
		if (!this.#takeMark(']')) this.#expected('a comma or the end of a list');
	}

	#expected(what: string): never {
		this.#fail(this.#at >= this.#text.length ? 'Not JSON: the text ends early' : `Not JSON: ${what} is expected`);
	}

	/** Reads the string that begins here. */
	#string(): string {
		const start = this.#at++;
		while (this.#take(plain)) {
			const mark = this.#text.charCodeAt(this.#at);
			if (mark === 0x22) break;
			if (Number.isNaN(mark)) this.#fail('Not JSON: the text ends early');
			if (mark < 0x20) this.#fail('Not JSON: a control character stands in a string');
			if (mark === 0x5c) this.#escape();
			else this.#at += 2;
		}
		this.#at++;
		return JSON.parse(this.#text.slice(start, this.#at));
	}

	#escape(): void {
		const start = this.#at;
		if (this.#take(simpleEscape)) return;
		const unit = this.#escapedUnit();
		if (unit === undefined) this.#fail('Not JSON: an escape in a string is not one');
		if (unit < 0xd800 || unit > 0xdfff) return;
		const low = unit < 0xdc00 ? this.#escapedUnit() : undefined;
		if (low === undefined || low < 0xdc00 || low > 0xdfff) this.#fail('Half a surrogate pair is no character', start);
	}

	#escapedUnit(): number | undefined {
		const start = this.#at;
		return this.#take(unicodeEscape) ? Number.parseInt(this.#text.slice(start + 2, this.#at), 16) : undefined;
	}
}
