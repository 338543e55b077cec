import { Failure } from '#core/failure.ts';

/** Encodings that are taken, by their names in XML and in Content-Type. All of them the platform decodes. */
const supported = /^(?:utf-8|utf-16|utf-16le|utf-16be|us-ascii|iso-8859-(?:[1-9]|1[013-6])|windows-125[0-8])$/;

export function isSupportedEncoding(name: string): boolean {
	return supported.test(name.toLowerCase());
}

/** An XML declaration ends within so many bytes. */
const declarationBytes = 256;

interface Detected {
	/** A label of the WHATWG Encoding Standard. */
	label: string;
	/** True if the document itself says so, by a byte order mark or its declaration. */
	stated: boolean;
}

/** XML 1.0 §F.1: the byte order mark, else how the first characters are coded, else the declaration, else UTF-8. */
function detect(bytes: Uint8Array): Detected {
	const [first, second, third, fourth] = bytes;
	if (first === 0xef && second === 0xbb && third === 0xbf) return { label: 'utf-8', stated: true };
	if (first === 0xff && second === 0xfe) return { label: 'utf-16le', stated: true };
	if (first === 0xfe && second === 0xff) return { label: 'utf-16be', stated: true };
	if (first === 0x3c && second === 0 && third !== 0 && fourth === 0) return { label: 'utf-16le', stated: true };
	if (first === 0 && second === 0x3c && third === 0 && fourth !== 0) return { label: 'utf-16be', stated: true };
	const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, declarationBytes)).toString('latin1');
	const declared = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"']*)["']/.exec(head)?.[1]?.toLowerCase();
	if (declared === undefined) return { label: 'utf-8', stated: false };
	// Its own name could be read, so the bytes are not in pairs.
	return { label: declared.startsWith('utf-16') ? 'utf-8' : declared, stated: true };
}

/**
 * The text of an XML document, without byte order mark.
 * @throws Failure `not-hl7` when it declares an encoding that is not supported, or has bytes that are not of it
 */
export function decodeXml(bytes: Uint8Array): string {
	const { label } = detect(bytes);
	if (!isSupportedEncoding(label)) throw new Failure('not-hl7', 'the XML declaration names an encoding that is not supported');
	try {
		return new TextDecoder(label, { fatal: true }).decode(bytes);
	} catch (error) {
		throw new Failure('not-hl7', `the bytes are not in the encoding of the document, ${label}`, { cause: error });
	}
}

/**
 * The document as it is kept: one that leaves it to Content-Type to name its encoding (RFC 7303 §3) is turned into UTF-8,
 * which needs no name. Bytes that are not of that encoding stay, and are refused when they are read.
 */
export function selfContained(bytes: Uint8Array, charset: string | undefined): Uint8Array {
	if (charset === undefined || !isSupportedEncoding(charset) || detect(bytes).stated) return bytes;
	const label = charset.toLowerCase() === 'utf-16' ? 'utf-16be' : charset;
	if (label.toLowerCase() === 'utf-8') return bytes;
	try {
		return Buffer.from(new TextDecoder(label, { fatal: true }).decode(bytes));
	} catch (error) {
		if (error instanceof TypeError) return bytes;
		throw error;
	}
}
