import { hl7Namespace } from '#hl7v3/element.ts';
import { decodeXml } from '#hl7v3/encoding.ts';
import { readXml, type XmlLimits } from '#hl7v3/read.ts';

const quoted = `(?:[^<>"']|"[^"]*"|'[^']*')*`;
const wrapper = new RegExp(`<(?:[\\w.-]+:)?(?:Envelope|Body)(?=[\\s>])(${quoted})>`, 'g');
const declaration = /\s(xmlns(?::[\w.-]+)?)\s*=\s*("[^"]*"|'[^']*')/g;

/**
 * A document cut out of the SOAP envelope around it, in UTF-8, character for character, with the namespaces that the envelope
 * declares for it. Undefined where it cannot be told from what is around it: in a comment before it, say.
 */
export function cutOut(bytes: Uint8Array, limits: XmlLimits): Uint8Array | undefined {
	const text = decodeXml(bytes);
	const start = /<((?:[\w.-]+:)?ClinicalDocument)(?=[\s>])/.exec(text);
	const [, name = ''] = start ?? [];
	const closing = start && new RegExp(`</${name.replaceAll('.', '\\.')}\\s*>`).exec(text.slice(start.index));
	if (!start || !closing) return undefined;
	const end = start.index + closing.index + closing[0].length;
	const content = text.slice(start.index + 1 + name.length, end);
	const own = new Set([...(new RegExp(`^${quoted}`).exec(content)?.[0] ?? '').matchAll(declaration)].map(([, prefix]) => prefix));
	const inherited = new Map<string, string>();
	for (const [, attributes = ''] of text.slice(0, start.index).matchAll(wrapper)) {
		for (const [, prefix = '', value = ''] of attributes.matchAll(declaration)) if (!own.has(prefix)) inherited.set(prefix, value);
	}
	const declared = [...inherited].map(([prefix, value]) => ` ${prefix}=${value}`).join('');
	const document = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n<${name}${declared}${content}`);
	return isDocument(document, limits) ? document : undefined;
}

function isDocument(bytes: Uint8Array, limits: XmlLimits): boolean {
	try {
		const { name, namespace } = readXml(bytes, limits);
		return name === 'ClinicalDocument' && namespace === hl7Namespace;
	} catch {
		return false;
	}
}
