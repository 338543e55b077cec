import { isUtf8 } from 'node:buffer';
import { decodeIso2022, isRegistered } from './iso-2022.ts';

/** Specific Character Set (0008,0005) says this of the texts of a data set. */
export interface CharacterSet {
	/** Text with its delimiters (`^`, `=`, `\`) still in place; never fails, what cannot be read becomes U+FFFD. */
	decode(bytes: Buffer): string;
}

const latin1 = new TextDecoder('windows-1252');

/** Senders leave the attribute out and write UTF-8 or Latin-1 all the same; Windows-1252 contains Latin-1. */
function guess(bytes: Buffer): string {
	return isUtf8(bytes) ? bytes.toString('utf8') : latin1.decode(bytes);
}

/** ASCII without an escape. Most values are, and most are so short that a call into the engine costs more than they do. */
function isPlain(bytes: Buffer): boolean {
	for (let at = 0; at < bytes.length; at++) if ((bytes[at] as number) >= 0x80 || bytes[at] === 0x1b) return false;
	return true;
}

function decoded(decode: (bytes: Buffer) => string): CharacterSet {
	return { decode: (bytes) => (isPlain(bytes) ? bytes.toString('latin1') : decode(bytes)) };
}

function encoded(encoding: string): CharacterSet {
	const decoder = new TextDecoder(encoding);
	return decoded((bytes) => decoder.decode(bytes));
}

export const defaultCharacterSet: CharacterSet = decoded((bytes) => (bytes.includes(0x1b) ? decodeIso2022(bytes, 6) : guess(bytes)));
const utf8 = decoded((bytes) => (isUtf8(bytes) ? bytes.toString('utf8') : guess(bytes)));

/** Sets that PS3.3 §C.12.1.1.2 allows without code extensions alone. */
const whole: ReadonlyMap<string, CharacterSet> = new Map([
	['ISO_IR 192', utf8],
	['GB18030', encoded('gb18030')],
	['GBK', encoded('gbk')],
]);

const term = /^ISO[ _-]?(?:2022[ _-]?)?IR[ _-]?(\d{1,3})$/;
const registered = new Map<number, CharacterSet>();

function byRegistration(registration: number): CharacterSet {
	let set = registered.get(registration);
	if (set === undefined) {
		set = registration === 6 ? defaultCharacterSet : decoded((bytes) => decodeIso2022(bytes, registration));
		registered.set(registration, set);
	}
	return set;
}

/**
 * The character set of (0008,0005) as sent. Only its first value is asked: the others announce escape sequences, and those
 * are obeyed whether announced or not. Unknown terms: UTF-8 where the bytes are valid UTF-8, else Windows-1252.
 */
export function characterSetOf(declared: string): CharacterSet {
	const first = (declared.split('\\')[0] ?? '').replaceAll('\0', '').trim().toUpperCase();
	if (first === '') return defaultCharacterSet;
	const number = term.exec(first)?.[1];
	const known = whole.get(number === '192' ? 'ISO_IR 192' : first);
	if (known) return known;
	return number !== undefined && isRegistered(Number(number)) ? byRegistration(Number(number)) : defaultCharacterSet;
}
