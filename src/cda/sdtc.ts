import type { XmlElement } from '#hl7v3/element.ts';

/** The namespace of HL7's extensions of CDA R2 (HL7 CDA Extensions). */
const namespace = 'urn:hl7-org:sdtc';

/** Children of that namespace by name. */
export function extensionsOf(element: XmlElement | undefined, name: string): XmlElement[] {
	const found: XmlElement[] = [];
	for (const node of element?.content ?? []) {
		if (typeof node !== 'string' && node.namespace === namespace && node.name === name) found.push(node);
	}
	return found;
}
