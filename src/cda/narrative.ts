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
	if (element.content.every((node) => typeof node === 'string')) return element.text;
	return element.first('reference') === undefined ? folded(plainText(element)) : element.text;
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

/** Narrative as plain text: a line for each paragraph, item and row, a tab between cells; what was deleted is not in it. */
export function plainText(element: XmlElement): string {
	const parts: string[] = [];
	write(element, parts);
	return parts
		.join('')
		.split('\n')
		.map((line) => line.replaceAll(/[^\S\t]+/g, ' ').trim())
		.filter((line) => line !== '')
		.join('\n');
}

function write(element: XmlElement, parts: string[]): void {
	if (element.attribute('revised') === 'delete') return;
	const isBlock = blocks.has(element.name);
	if (isBlock) parts.push('\n');
	let before: XmlNode | undefined;
	for (const node of element.content) {
		if (typeof node === 'string') parts.push(node.replaceAll(/\s+/g, ' '));
		else if (node.namespace === hl7Namespace) {
			if (before !== undefined && typeof before !== 'string') parts.push(separator(before, node));
			write(node, parts);
		}
		before = node;
	}
	if (isBlock) parts.push('\n');
}

/** Layout between two elements is not kept, so that one that belongs to the text has to be written anew. */
function separator(before: XmlElement, after: XmlElement): string {
	if (cells.has(before.name) && cells.has(after.name)) return '\t';
	return scripts.has(before.name) || scripts.has(after.name) ? '' : ' ';
}
