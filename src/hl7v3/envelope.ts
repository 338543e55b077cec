import { Failure } from '#core/failure.ts';
import type { XmlElement } from './element.ts';

/** SOAP 1.1 §4 and 1.2 part 1 §5, by namespace. */
const versions: Readonly<Record<string, '1.1' | '1.2'>> = {
	'http://schemas.xmlsoap.org/soap/envelope/': '1.1',
	'http://www.w3.org/2003/05/soap-envelope': '1.2',
};
const addressing = 'http://www.w3.org/2005/08/addressing';

/** The SOAP envelope in which a message came, as far as the answer repeats it. */
export interface Envelope {
	namespace: string;
	/** WS-Addressing MessageID; '' when it has none. */
	messageId: string;
}

export interface Unwrapped {
	envelope: Envelope | undefined;
	/** Undefined for an envelope without a body. */
	message: XmlElement | undefined;
}

/** The document itself, or what an envelope holds. */
export function unwrap(root: XmlElement): Unwrapped {
	if (root.name !== 'Envelope' || versions[root.namespace] === undefined) return { envelope: undefined, message: root };
	const { namespace } = root;
	const inside = (parent: XmlElement | undefined, name: string, ns: string) =>
		elementsOf(parent).find((child) => child.name === name && child.namespace === ns);
	const messageId = inside(inside(root, 'Header', namespace), 'MessageID', addressing)?.text ?? '';
	const message = elementsOf(inside(root, 'Body', namespace))[0];
	return { envelope: { namespace, messageId }, message };
}

function elementsOf(element: XmlElement | undefined): XmlElement[] {
	return (element?.content ?? []).filter((node) => typeof node !== 'string');
}

export function emptyEnvelope(): Failure {
	return new Failure('not-hl7', 'the body of the SOAP envelope is empty, one HL7 v3 message is expected');
}

/** The answer in an envelope of the same version. `action` is the interaction that it is. */
export function wrap(answer: string, { namespace, messageId }: Envelope, action: string): string {
	const header =
		messageId === ''
			? ''
			: `<soap:Header xmlns:wsa="${addressing}"><wsa:Action>${action}</wsa:Action>` +
				`<wsa:RelatesTo>${escapeXml(messageId)}</wsa:RelatesTo></soap:Header>`;
	return `<soap:Envelope xmlns:soap="${namespace}">${header}<soap:Body>${answer}</soap:Body></soap:Envelope>`;
}

const escapes: Readonly<Record<string, string>> = {
	'&': '&amp;',
	'<': '&lt;',
	'>': '&gt;',
	'"': '&quot;',
	'\t': '&#9;',
	'\n': '&#10;',
	'\r': '&#13;',
};

/** Text as it stands in an attribute or between tags. */
export function escapeXml(text: string): string {
	return text.replace(/[&<>"\t\n\r]/g, (character) => escapes[character] as string);
}
