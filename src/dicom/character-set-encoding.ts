/** Texts as bytes of a Specific Character Set (PS3.3 C.12.1.1.2), for answers. */

export interface EncodedCharacterSet {
	/** The value of (0008,0005); undefined: ASCII, which needs none. */
	term: string | undefined;
	encode(text: string): Buffer;
}

/** Sets of one byte a character, by the number of their term. */
const singleByte: Readonly<Record<string, string>> = {
	'100': 'windows-1252',
	'101': 'iso-8859-2',
	'109': 'iso-8859-3',
	'110': 'iso-8859-4',
	'126': 'iso-8859-7',
	'127': 'iso-8859-6',
	'138': 'iso-8859-8',
	'144': 'iso-8859-5',
	'148': 'windows-1254',
	'166': 'windows-874',
	'203': 'iso-8859-15',
};

const tables = new Map<string, ReadonlyMap<string, number>>();

/** The upper half of a set; what Windows has at 80 to 9F is no part of the ISO sets. */
function tableOf(encoding: string): ReadonlyMap<string, number> {
	const held = tables.get(encoding);
	if (held) return held;
	const upper = Uint8Array.from({ length: 0x60 }, (_, index) => 0xa0 + index);
	const decoder = new TextDecoder(encoding);
	const table = new Map(Array.from(upper, (byte) => [decoder.decode(Uint8Array.of(byte)), byte] as const));
	table.delete('\ufffd');
	tables.set(encoding, table);
	return table;
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);
const ascii: EncodedCharacterSet = { term: undefined, encode: (text) => Buffer.from(text, 'latin1') };
const utf8: EncodedCharacterSet = { term: 'ISO_IR 192', encode: (text) => Buffer.from(text.toWellFormed(), 'utf8') };

/** The set in which all of the texts can be written: none for ASCII, the one that was asked in when it has them, else UTF-8. */
export function characterSetFor(texts: readonly string[], asked: string): EncodedCharacterSet {
	if (texts.every(isAscii)) return ascii;
	const number = /^ISO_IR (\d{3})$/.exec(asked.split('\\')[0]?.trim() ?? '')?.[1];
	const encoding = number === undefined ? undefined : singleByte[number];
	if (number === undefined || encoding === undefined) return utf8;
	const table = tableOf(encoding);
	if (texts.some((text) => [...text].some((character) => character > '\x7f' && !table.has(character)))) return utf8;
	return {
		term: `ISO_IR ${number}`,
		encode: (text) => Buffer.from(Array.from(text, (character) => table.get(character) ?? character.charCodeAt(0))),
	};
}
