import { isAscii, isUtf8 } from 'node:buffer';
import { decodeIso2022, hasDesignation } from '#core/iso-2022.ts';

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
	'gb 18030-2000': 'gb18030',
	'ks x 1001': 'euc-kr',
	'big-5': 'big5',
};
/** Their characters may hold `|`, `^` or `\` as a second byte, or depend on shift sequences. */
const overlapping: ReadonlySet<string> = new Set(['shift_jis', 'gb18030', 'gbk', 'big5', 'euc-kr']);

const nonAscii = /[^\0-\x7f]/;
const charsets = new Map<string, Charset>();

function bytesView(bytes: Uint8Array): Buffer {
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

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
		encode: asciiOnly,
	};
}

function asciiOnly(text: string): string {
	return Array.from(text, (character) => (character < '\x80' ? character : '?')).join('');
}

/** WHATWG reads ISO 8859-1 as this too: 0x80 to 0x9F are letters and quotes there, and never meant as controls. */
export const windows1252: Charset = tabled('windows-1252');

/**
 * The sets of table 0211 that ISO 2022 has, by the escape sequence that designates them: those of one byte and KS X 1001 for bytes above 0x7F.
 * MSH itself is ASCII, so the sets for bytes below 0x80 are reached by their escape sequences alone.
 */
const extended: Readonly<Record<string, string>> = {
	'': '',
	ascii: '',
	'iso ir6': '',
	'iso ir14': ')I',
	'iso ir87': '',
	'iso ir159': '',
	'ks x 1001': '$)C',
	'gb 2312': '$)A',
	'8859/1': '-A',
	'8859/2': '-B',
	'8859/3': '-C',
	'8859/4': '-D',
	'8859/5': '-L',
	'8859/6': '-G',
	'8859/7': '-F',
	'8859/8': '-H',
	'8859/9': '-M',
	'8859/15': '-b',
};
const byEscapeAlone: ReadonlySet<string> = new Set(['iso ir14', 'iso ir87', 'iso ir159']);

/** LF and CR, and the usual delimiters: a sender need not go back to its first set before them, unless the set in force has two bytes. */
const resetBehind: ReadonlySet<number> = new Set([0x0a, 0x0d, 0x26, 0x5e, 0x7c, 0x7e]);

function iso2022(g1: string): Charset {
	let charset = charsets.get(`iso-2022 ${g1}`);
	if (charset === undefined) {
		// In JIS Roman the escape character would be a yen sign and the repetition separator an overline.
		const extensions = { ...(g1 === '' ? {} : { g1 }), resetBehind, readAs: { '(J': '(B' } };
		charset = { name: 'iso-2022', overlapsAscii: true, decode: (text) => decodeIso2022(bytesOf(text), extensions), encode: asciiOnly };
		charsets.set(`iso-2022 ${g1}`, charset);
	}
	return charset;
}

/** The charset of a message with escape sequences, if MSH-18 declares a set that they may reach. */
function extendedCharset([first = '', ...further]: readonly string[]): Charset | undefined {
	const g1 = extended[first];
	if (g1 === undefined) return undefined;
	const reaches = byEscapeAlone.has(first) || further.some((label) => label !== '' && extended[label] !== undefined);
	return reaches ? iso2022(g1) : undefined;
}

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
 * The character set of a message by MSH-18: its repetitions as sent, with `~` between them. The first is that of the message, the others are
 * reached by the escape sequences of ISO 2022. Empty or unknown: UTF-8 when the bytes are valid UTF-8, else Windows-1252, which contains
 * Latin-1. The same when the bytes contradict the declaration.
 */
export function resolveCharset(declared: string, bytes: Uint8Array, plain = isAscii(bytes)): ResolvedCharset {
	if (bytes.includes(0x1b)) {
		const labels = declared.split('~').map((label) => label.replaceAll('""', '').trim().toLowerCase());
		const charset = extendedCharset(labels);
		if (charset) return { charset, assumed: false };
		// Nobody declared them, and still they are no text.
		if (hasDesignation(bytesView(bytes)) && (isAscii(bytes) || extended[labels[0] ?? ''] !== undefined))
			return { charset: iso2022(extended[labels[0] ?? ''] ?? ''), assumed: true };
	}
	const [first = ''] = declared.split('~', 1);
	const known = first === '' || first === '""' ? undefined : charsetOf(first);
	if (plain && known !== undefined) return { charset: known === 'ascii' ? utf8 : known, assumed: false };
	if (known !== undefined && known !== 'ascii' && known !== utf8) return { charset: known, assumed: false };
	if (plain || isUtf8(bytes)) return { charset: utf8, assumed: known !== utf8 };
	return { charset: windows1252, assumed: true };
}

export function hasNonAscii(text: string): boolean {
	return nonAscii.test(text);
}
