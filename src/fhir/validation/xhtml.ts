/**
 * The XHTML of Narrative.div (R4 §2.4.2, txt-1 and txt-2): well-formed, of the elements and attributes of HTML 4.0 that a
 * narrative may have, without scripts, forms and frames. Linear in the text; nothing is built.
 */

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

const elements = words(
	'a abbr acronym address area b bdo big blockquote br caption cite code col colgroup dd dfn div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li map ol p pre q samp small span strong sub sup table tbody td tfoot th thead tr tt ul var',
);
const attributes = words(
	'abbr accesskey align alt axis border cellpadding cellspacing char charoff charset cite class colspan coords dir frame headers height href hreflang id idref ismap lang longdesc name nowrap rel rev rowspan rules scope shape space span src style summary tabindex title type usemap valign width xml:lang xml:space xmlns',
);
const namespace = 'http://www.w3.org/1999/xhtml';
const depthMax = 100;

const text = /[^<&]+/y;
const reference = /&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});/y;
const endTag = /<\/([A-Za-z][A-Za-z0-9]*)\s*>/y;
const startTag = /<([A-Za-z][A-Za-z0-9]*)(?=[\s/>])/y;
const attribute = /\s+([A-Za-z][A-Za-z0-9:]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const tagEnd = /\s*(\/?)>/y;
/** Control characters and spaces are what browsers skip over in a scheme. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: see above.
const script = /^[\s\u0000-\u001f]*(?:j\s*a\s*v\s*a|v\s*b)\s*s\s*c\s*r\s*i\s*p\s*t\s*:/i;

const malformed = 'The XHTML is not well-formed (txt-1)';

/** What is wrong with it, or undefined. */
export function xhtmlFault(source: string): string | undefined {
	const reader = new XhtmlReader(source);
	return reader.fault();
}

class XhtmlReader {
	readonly #source: string;
	readonly #open: string[] = [];
	#at = 0;
	#hasContent = false;

	constructor(source: string) {
		this.#source = source.trim();
	}

	fault(): string | undefined {
		if (!/^<div[\s>]/.test(this.#source)) return `The XHTML is one div of the namespace ${namespace} (txt-1)`;
		while (this.#at < this.#source.length) {
			const fault = this.#next();
			if (fault !== undefined) return fault;
			if (this.#open.length === 0 && this.#at < this.#source.length) return malformed;
		}
		if (this.#open.length > 0) return malformed;
		return this.#hasContent ? undefined : 'The XHTML has some content (txt-2)';
	}

	#take(pattern: RegExp): RegExpExecArray | undefined {
		pattern.lastIndex = this.#at;
		const match = pattern.exec(this.#source) ?? undefined;
		if (match) this.#at = pattern.lastIndex;
		return match;
	}

	#next(): string | undefined {
		const run = this.#take(text) ?? this.#take(reference);
		if (run) {
			this.#hasContent ||= /\S/.test(run[0]);
			return undefined;
		}
		const [, ended] = this.#take(endTag) ?? [];
		if (ended !== undefined) return this.#open.pop() === ended ? undefined : malformed;
		const [, started] = this.#take(startTag) ?? [];
		if (started !== undefined) return this.#start(started);
		return this.#comment() ? undefined : malformed;
	}

	#comment(): boolean {
		const end = this.#source.startsWith('<!--', this.#at) ? this.#source.indexOf('-->', this.#at + 4) : -1;
		if (end >= 0) this.#at = end + 3;
		return end >= 0;
	}

	#start(name: string): string | undefined {
		if (!elements.has(name)) return 'The XHTML has an element that a narrative may not have (txt-1)';
		const fault = this.#attributes();
		if (fault !== undefined) return fault;
		const [, closed] = this.#take(tagEnd) ?? [];
		if (closed === undefined) return malformed;
		this.#hasContent ||= name === 'img';
		if (closed === '') this.#open.push(name);
		return this.#open.length > depthMax ? `The XHTML is nested more than ${depthMax} deep` : undefined;
	}

	#attributes(): string | undefined {
		const names = new Set<string>();
		const isRoot = this.#open.length === 0;
		let spaceName: string | undefined;
		for (let match = this.#take(attribute); match; match = this.#take(attribute)) {
			const [, name = '', double, single] = match;
			const value = double ?? single ?? '';
			if (!attributes.has(name)) return 'The XHTML has an attribute that a narrative may not have (txt-1)';
			if (names.has(name)) return malformed;
			if ((name === 'href' || name === 'src') && script.test(value)) return 'The XHTML has a script (txt-1)';
			names.add(name);
			if (name === 'xmlns') spaceName = value;
		}
		const rightSpace = spaceName === namespace || (!isRoot && spaceName === undefined);
		return rightSpace ? undefined : `The XHTML is one div of the namespace ${namespace} (txt-1)`;
	}
}
