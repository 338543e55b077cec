/** The namespace of HL7 v3 messages and CDA documents (XML ITS §1.2). */
export const hl7Namespace = 'urn:hl7-org:v3';

export type XmlNode = XmlElement | string;

/** An element as it was read. Elements of other namespaces are there too; `children` leaves them out. */
export class XmlElement {
	/** Local name. */
	readonly name: string;
	readonly namespace: string;
	/** Attributes by their name as written, without namespace declarations. */
	readonly attributes: Readonly<Record<string, string>>;
	readonly parent: XmlElement | undefined;
	/** Elements and text in document order, without white space between elements. */
	readonly content: XmlNode[] = [];

	constructor(name: string, namespace: string, attributes: Readonly<Record<string, string>>, parent: XmlElement | undefined) {
		this.name = name;
		this.namespace = namespace;
		this.attributes = attributes;
		this.parent = parent;
	}

	/** Without surrounding whitespace; '' when absent. */
	attribute(name: string): string {
		return this.attributes[name]?.trim() ?? '';
	}

	/** True if the sender states that there is no value (HL7 v3 abstract data types, NullFlavor). */
	get isNull(): boolean {
		return this.attributes['nullFlavor'] !== undefined;
	}

	/** Children of the HL7 namespace, of one name or of any. */
	children(name?: string): XmlElement[] {
		const found: XmlElement[] = [];
		for (const node of this.content) {
			if (typeof node !== 'string' && node.namespace === hl7Namespace && (name === undefined || node.name === name)) found.push(node);
		}
		return found;
	}

	/** The first descendant along a path of HL7 names. */
	first(...path: string[]): XmlElement | undefined {
		let element: XmlElement | undefined = this;
		for (const name of path) {
			element = element.#child(name);
			if (element === undefined) return undefined;
		}
		return element;
	}

	#child(name: string): XmlElement | undefined {
		for (const node of this.content) {
			if (typeof node !== 'string' && node.name === name && node.namespace === hl7Namespace) return node;
		}
		return undefined;
	}

	/** All descendants along a path of HL7 names. */
	all(...path: string[]): XmlElement[] {
		return path.reduce<XmlElement[]>((elements, name) => elements.flatMap((element) => element.children(name)), [this]);
	}

	/** Its own text, whitespace folded as between words. */
	get text(): string {
		let text = '';
		for (const node of this.content) if (typeof node === 'string') text += node;
		return /\s\s|[^\S ]/.test(text) ? text.replaceAll(/\s+/g, ' ').trim() : text.trim();
	}

	/** The element's place in its message as XPath. Names are in the HL7 namespace; `[n]` is added if a name repeats. */
	get path(): string {
		const { parent } = this;
		if (parent === undefined || parent.namespace !== hl7Namespace) return `/${this.name}`;
		const alike = parent.children(this.name);
		const position = alike.length > 1 ? `[${alike.indexOf(this) + 1}]` : '';
		return `${parent.path}/${this.name}${position}`;
	}
}
