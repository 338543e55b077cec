import type { Context } from '#hl7v3/context.ts';
import { hl7Namespace, type XmlElement, type XmlNode } from '#hl7v3/element.ts';

/** Characters of narrative that the entries of one document may repeat, so that many references to one long text stay bounded. */
const charactersMax = 8 * 1024 * 1024;
/** FHIR R4 §2.24.0.1, string. */
const textMax = 1024 * 1024;

/** The texts of a document's sections, by the ids that its entries refer to (CDA R2 §4.3.5). */
export class Narrative {
	readonly #document: XmlElement;
	readonly #context: Context;
	#byId: ReadonlyMap<string, XmlElement> | undefined;
	readonly #lines = new Map<XmlElement, string>();
	#left = charactersMax;

	constructor(document: XmlElement, context: Context) {
		this.#document = document;
		this.#context = context;
	}

	/** ED and ST (Data Types R1 §2.4) as one line: the text itself, else the narrative that it refers to; '' without one. */
	textIn(element: XmlElement | undefined): string {
		if (element === undefined || element.isNull) return '';
		if (element.attribute('representation') === 'B64') {
			this.#context.skipped(element, 'it is binary');
			return '';
		}
		const own = foldedText(element);
		if (own !== '') return this.#bounded(own, element);
		const reference = element.first('reference')?.attribute('value') ?? '';
		return reference === '' ? '' : this.#bounded(this.#referred(reference), element);
	}

	#bounded(text: string, element: XmlElement): string {
		this.#left -= text.length;
		if (text.length <= textMax && this.#left >= 0) return text;
		this.#context.unreadable(element, 'is or refers to too much text, which was left out');
		return '';
	}

	#referred(reference: string): string {
		this.#byId ??= idsOf(this.#document);
		const element = this.#byId.get(reference.startsWith('#') ? reference.slice(1) : reference);
		if (element === undefined) return '';
		const known = this.#lines.get(element);
		if (known !== undefined) return known;
		const text = folded(plainText(element));
		this.#lines.set(element, text);
		return text;
	}
}

function foldedText(element: XmlElement): string {
	return element.content.every((node) => typeof node === 'string') ? element.text : folded(plainText(element));
}

function folded(text: string): string {
	return text.replaceAll(/\s+/g, ' ').trim();
}

/** Maps ids to elements of the sections' texts. If an id repeats, the first one counts. */
function idsOf(document: XmlElement): ReadonlyMap<string, XmlElement> {
	const found = new Map<string, XmlElement>();
	const visit = (element: XmlElement, isNarrative: boolean): void => {
		const id = isNarrative ? element.attribute('ID') : '';
		if (id !== '' && !found.has(id)) found.set(id, element);
		for (const node of element.content) {
			if (typeof node === 'string') continue;
			visit(node, isNarrative || (node.name === 'text' && element.name === 'section'));
		}
	};
	visit(document, false);
	return found;
}

/** CDA R2 §4.3.5: what stands on lines of its own. */
const blocks: ReadonlySet<string> = new Set(['paragraph', 'list', 'item', 'table', 'caption', 'tr', 'text', 'title', 'br', 'footnote']);
const cells: ReadonlySet<string> = new Set(['td', 'th']);
const scripts: ReadonlySet<string> = new Set(['sub', 'sup']);
/** Parts of ED that stand beside its text (Data Types R1 §2.4). */
const besides: ReadonlySet<string> = new Set(['reference', 'thumbnail']);

/**
 * Narrative as plain text: a line for each paragraph, item and row, a tab between cells; what was deleted is not in it, and numbers that
 * are raised or lowered stay apart from those beside them.
 */
export function plainText(element: XmlElement): string {
	const lines = new Lines();
	write(element, lines);
	return lines.text
		.split('\n')
		.map((line) => line.replaceAll(/[^\S\t]+/g, ' ').trim())
		.filter((line) => line !== '')
		.join('\n');
}

/** Text as it is written, and what stands at its end. */
class Lines {
	readonly #parts: string[] = [];
	#last = '';
	/** The last character of the line or cell that is no space. */
	#lastInk = '';
	#isAfterScript = false;

	get text(): string {
		return this.#parts.join('');
	}

	/** A digit behind a script would otherwise become a part of it. */
	push(text: string): void {
		if (text === '') return;
		if (this.#isAfterScript && /^\d/.test(text)) this.#parts.push(' ');
		this.#parts.push(text);
		this.#last = text.slice(-1);
		const ink = text.trimEnd().slice(-1);
		if (ink !== '') this.#lastInk = ink;
		else if (text !== ' ') this.#lastInk = '';
		this.#isAfterScript = false;
	}

	/** `after` is the text that follows. */
	pushScript(name: string, script: string, after: string): void {
		const text = folded(script);
		if (text === '') return;
		const mark = name === 'sup' ? this.#raised(text, after) : this.#lowered(text);
		this.push(mark === '' || simpleScript.test(text) ? mark + text : `${mark}(${text})`);
		this.#isAfterScript = true;
		if (/\s$/.test(script)) this.push(' ');
	}

	/**
	 * 10⁹ is 10^9, because 109 is another number. Without digits, as in 2nd and Na⁺, a script changes none; and before a symbol it is a
	 * mass number, which is usually written so: 99mTc.
	 */
	#raised(text: string, after: string): string {
		if (!/\d/.test(text)) return '';
		if (!/^$|[\s([{"'/–—-]/.test(this.#last)) return '^';
		return this.#last === ' ' && /\d/.test(this.#lastInk) && !/^\p{L}/u.test(after) ? '^' : '';
	}

	/** CO₂ is CO2, but a digit below a digit is no part of its number. */
	#lowered(text: string): string {
		return /^\d/.test(text) && (this.#isAfterScript || /\d/.test(this.#last)) ? '_' : '';
	}
}

/** One number, word or charge, so that it is clear where the script ends. */
const simpleScript = /^[+−–-]?[\p{L}\d.,]+[+−–-]?$/u;

function write(element: XmlElement, lines: Lines): void {
	if (element.attribute('revised') === 'delete') return;
	const isBlock = blocks.has(element.name);
	if (isBlock) lines.push('\n');
	let before: XmlNode | undefined;
	for (const [index, node] of element.content.entries()) {
		if (typeof node === 'string') lines.push(node.replaceAll(/\s+/g, ' '));
		else if (besides.has(node.name)) continue;
		else if (node.namespace === hl7Namespace) {
			if (before !== undefined && typeof before !== 'string') lines.push(separator(before, node));
			if (scripts.has(node.name)) writeScript(node, element.content[index + 1], lines);
			else write(node, lines);
		}
		before = node;
	}
	if (isBlock) lines.push('\n');
}

function writeScript(script: XmlElement, after: XmlNode | undefined, lines: Lines): void {
	const inner = new Lines();
	write(script, inner);
	lines.pushScript(script.name, inner.text, typeof after === 'string' ? after : '');
}

/** Layout between two elements is not kept, so that one that belongs to the text has to be written anew. */
function separator(before: XmlElement, after: XmlElement): string {
	if (cells.has(before.name) && cells.has(after.name)) return '\t';
	return scripts.has(before.name) || scripts.has(after.name) ? '' : ' ';
}
