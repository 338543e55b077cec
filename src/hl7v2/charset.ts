import { isAscii, isUtf8 } from 'node:buffer';

/** A character set as the parser uses it. `latin1` stands for bytes: one character each, U+0000 to U+00FF. */
export interface Charset {
	/** The name of the WHATWG encoding, `utf-8`. */
	readonly name: string;
	/** A byte below 0x80 may be the second half of a character, so delimiters cannot be found in the bytes. */
	readonly overlapsAscii: boolean;
	decode(latin1: string): string;
	/** Encodes text. A character that cannot be written becomes `?`. */
	encode(text: string): string;
}

export interface ResolvedCharset {
	charset: Charset;
	/** MSH-18 is empty or unknown, or the bytes contradict it. */
	assumed: boolean;
}

/** HL7 table 0211 and spellings met in the field, in lower case; everything else is asked of `TextDecoder`. */
const encodings: Readonly<Record<string, string>> = {
	'unicode utf-8': 'utf-8',
	// Two bytes a character cannot travel with one-byte framing; senders that write UNICODE mean UTF-8.
	unicode: 'utf-8',
	'iso ir6': 'ascii',
	ascii: 'ascii',
	'us-ascii': 'ascii',
	'iso ir14': 'shift_jis',
	'iso ir87': 'iso-2022-jp',
	'iso ir159': 'iso-2022-jp',
	'gb 18030-2000': 'gb18030',
	'ks x 1001': 'euc-kr',
	'big-5': 'big5',
};
/** Their characters may hold `|`, `^` or `\` as a second byte, or depend on shift sequences. */
const overlapping: ReadonlySet<string> = new Set(['shift_jis', 'gb18030', 'gbk', 'big5', 'iso-2022-jp', 'euc-kr']);

const nonAscii = /[^\0-\x7f]/;
const charsets = new Map<string, Charset>();

function bytesOf(latin1: string): Buffer {
	return Buffer.from(latin1, 'latin1');
}

export const utf8: Charset = {
	name: 'utf-8',
	overlapsAscii: false,
	decode: (latin1) => bytesOf(latin1).toString('utf8'),
	encode: (text) => Buffer.from(text, 'utf8').toString('latin1'),
};

/** A character set of one byte a character: the reverse table is made when first asked for. */
function tabled(name: string): Charset {
	const decoder = new TextDecoder(name);
	let reverse: Map<string, string> | undefined;
	const reverseTable = () => {
		const table = new Map<string, string>();
		for (let code = 0x80; code <= 0xff; code++) table.set(decoder.decode(Uint8Array.of(code)), String.fromCharCode(code));
		return table;
	};
	return {
		name,
		overlapsAscii: false,
		decode: (latin1) => decoder.decode(bytesOf(latin1)),
		encode: (text) => {
			reverse ??= reverseTable();
			const table = reverse;
			return Array.from(text, (character) => (character < '\x80' ? character : (table.get(character) ?? '?'))).join('');
		},
	};
}

/** Many bytes a character. Node has no encoder for these, so only ASCII is written. */
function decodedOnly(name: string): Charset {
	const decoder = new TextDecoder(name);
	return {
		name,
		overlapsAscii: overlapping.has(name),
		decode: (latin1) => decoder.decode(bytesOf(latin1)),
		encode: (text) => Array.from(text, (character) => (character < '\x80' ? character : '?')).join(''),
	};
}

/** WHATWG reads ISO 8859-1 as this too: 0x80 to 0x9F are letters and quotes there, and never meant as controls. */
export const windows1252: Charset = tabled('windows-1252');

function encodingName(label: string): string | undefined {
	const iso = /^(?:iso[- ]?)?8859[-/](\d{1,2})$/.exec(label)?.[1];
	try {
		return new TextDecoder(iso ? `iso-8859-${iso}` : label).encoding;
	} catch (error) {
		if (error instanceof RangeError) return undefined;
		throw error;
	}
}

function charsetOf(declared: string): Charset | 'ascii' | undefined {
	const label = declared.trim().toLowerCase();
	const name = encodings[label] ?? encodingName(label);
	if (name === undefined || name === 'ascii') return name;
	if (name === 'utf-8') return utf8;
	if (name === 'windows-1252') return windows1252;
	if (name.startsWith('utf-16')) return undefined;
	let charset = charsets.get(name);
	if (charset === undefined) {
		charset = /^(?:iso-8859-|windows-|koi8-|macintosh|x-mac-|ibm866)/.test(name) ? tabled(name) : decodedOnly(name);
		charsets.set(name, charset);
	}
	return charset;
}

/**
 * The character set of a message by MSH-18 (its first repetition, as sent). Empty or unknown: UTF-8 when the bytes are
 * valid UTF-8, else Windows-1252, which contains Latin-1. The same when the bytes contradict the declaration.
 */
export function resolveCharset(declared: string, bytes: Uint8Array, plain = isAscii(bytes)): ResolvedCharset {
	const known = declared === '' || declared === '""' ? undefined : charsetOf(declared);
	if (plain && known !== undefined) return { charset: known === 'ascii' ? utf8 : known, assumed: false };
	if (known !== undefined && known !== 'ascii' && known !== utf8) return { charset: known, assumed: false };
	if (plain || isUtf8(bytes)) return { charset: utf8, assumed: known !== utf8 };
	return { charset: windows1252, assumed: true };
}

export function hasNonAscii(text: string): boolean {
	return nonAscii.test(text);
}
