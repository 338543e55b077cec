import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { Failure } from '#core/failure.ts';
import { XmlElement } from './element.ts';
import { decodeXml } from './encoding.ts';
import type { XmlLimits } from './limits.ts';

type Scope = ReadonlyMap<string, string>;

interface Open {
	element: XmlElement;
	scope: Scope;
}

const rootScope: Scope = new Map([['xml', 'http://www.w3.org/XML/1998/namespace']]);
const xmlnsPrefix = 'xmlns:';
const layout = /^[ \t]*[\r\n]\s*$/;

/**
 * Reads a document of XML 1.0 as a tree: UTF-8, UTF-16, ISO 8859 or Windows code pages, the five entities of XML and
 * character references. What is refused is refused where it stands, before the rest is looked at.
 * @throws Failure `not-hl7` for what is not well-formed or has a document type declaration, `invalid` at a limit
 */
export function readXml(bytes: Uint8Array, limits: XmlLimits): XmlElement {
	return new Reader(limits).read(decodeXml(bytes));
}

/**
 * Namespaces are resolved here: saxes looks for each prefix in every open element, which takes time quadratic in their
 * depth.
 */
class Reader {
	readonly #limits: XmlLimits;
	readonly #parser = new SaxesParser({ xmlns: false, position: true });
	readonly #open: Open[] = [];
	#root: XmlElement | undefined;
	#elements = 0;
	#attributes = 0;
	/** True if the current element may declare a namespace; most do not. */
	#declares = false;

	constructor(limits: XmlLimits) {
		this.#limits = limits;
		const parser = this.#parser;
		// Its own table inherits from Object, so that `&constructor;` would be one.
		parser.ENTITIES = Object.assign(Object.create(null), { amp: '&', gt: '>', lt: '<', quot: '"', apos: "'" });
		// An eighth handler would make the parser a dictionary to V8, six times as slow.
		parser.on('error', (error) => {
			throw this.#malformed(ruleOf(error.message));
		});
		parser.on('doctype', () => {
			throw this.#malformed('a document type declaration is not allowed');
		});
		parser.on('attribute', ({ name }) => this.#noteAttribute(name));
		parser.on('opentag', (tag) => this.#enter(tag));
		parser.on('closetag', () => {
			this.#open.pop();
		});
		parser.on('text', (text) => this.#addText(text));
		parser.on('cdata', (text) => this.#addText(text));
	}

	read(text: string): XmlElement {
		this.#parser.write(text.trimStart()).close();
		if (this.#root === undefined) throw this.#malformed('it has no element');
		return this.#root;
	}

	#noteAttribute(name: string): void {
		this.#declares ||= name.startsWith('xmlns');
		if (++this.#attributes > this.#limits.xmlAttributesMax) {
			throw this.#beyond(`an element has more than ${this.#limits.xmlAttributesMax} attributes`);
		}
	}

	#enter({ name, attributes }: SaxesTagPlain): void {
		this.#attributes = 0;
		if (this.#open.length >= this.#limits.xmlDepthMax) {
			throw this.#beyond(`more than ${this.#limits.xmlDepthMax} elements are inside one another`);
		}
		if (++this.#elements > this.#limits.xmlElementsMax) throw this.#beyond(`it has more than ${this.#limits.xmlElementsMax} elements`);
		const above = this.#open.at(-1);
		const outer = above?.scope ?? rootScope;
		const [scope, own] = this.#declares ? declarations(attributes, outer) : [outer, attributes];
		this.#declares = false;
		const colon = name.indexOf(':');
		const namespace = scope.get(colon < 0 ? '' : name.slice(0, colon));
		if (namespace === undefined && colon >= 0) throw this.#malformed('an element has a prefix that is not declared');
		const element = new XmlElement(colon < 0 ? name : name.slice(colon + 1), namespace ?? '', own, above?.element);
		if (above) above.element.content.push(element);
		else this.#begin(element);
		this.#open.push({ element, scope });
	}

	/** XML 1.1 takes control characters, as references, that no text column and no FHIR string may hold. */
	#begin(element: XmlElement): void {
		const { version } = this.#parser.xmlDecl;
		if (version !== undefined && version !== '1.0') throw this.#malformed('its XML declaration names another version than 1.0');
		this.#root = element;
	}

	#addText(text: string): void {
		const element = this.#open.at(-1)?.element;
		if (element !== undefined && !layout.test(text)) element.content.push(text);
	}

	#malformed(rule: string): Failure {
		return new Failure('not-hl7', `the body is no XML that is taken: ${rule} (${this.#position()})`);
	}

	#beyond(rule: string): Failure {
		return new Failure('invalid', `the document is beyond a limit: ${rule} (${this.#position()})`);
	}

	#position(): string {
		return `line ${this.#parser.line}, column ${this.#parser.columnIndex + 1}`;
	}
}

/** Splits off namespace declarations; the scope above holds where there are none. */
function declarations(attributes: SaxesTagPlain['attributes'], above: Scope): [Scope, Record<string, string>] {
	let scope: Map<string, string> | undefined;
	for (const name in attributes) {
		if (name !== 'xmlns' && !name.startsWith(xmlnsPrefix)) continue;
		scope ??= new Map(above);
		scope.set(name === 'xmlns' ? '' : name.slice(xmlnsPrefix.length), (attributes[name] ?? '').trim());
		delete attributes[name];
	}
	return [scope ?? above, attributes];
}

/** The fault that saxes found, without its position and without the names that it quotes: the sender wrote those. */
function ruleOf(message: string): string {
	return message
		.replace(/^\d+:\d+: /, '')
		.replace(/[.:][\s\S]*$/, '')
		.trim();
}
