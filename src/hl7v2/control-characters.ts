import { controlCharacter } from '#fhir/mapping/text.ts';

/** Four bytes at once: the highest bit of each byte below 0x20 is set. */
const highest = 0x80808080;
const lowest = 0x20202020;

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

function isControl(byte: number | undefined): boolean {
	return byte !== undefined && byte < 0x20 && byte !== tab && byte !== lineFeed && byte !== carriageReturn;
}

const noWords = new Uint32Array(0);

/** Tells whether bytes have a control character other than tabs and line ends. Hardly a message has one, and each is asked, so it is told by words. */
export function hasControlCharacters(bytes: Uint8Array): boolean {
	const { buffer, byteOffset, length } = bytes;
	// Words begin at multiples of four.
	const before = length < 8 ? length : (4 - (byteOffset & 3)) & 3;
	const words = before === length ? noWords : new Uint32Array(buffer, byteOffset + before, (length - before) >> 2);
	for (let at = 0; at < before; at++) if (isControl(bytes[at])) return true;
	for (let at = 0; at < words.length; at++) {
		const word = words[at] as number;
		if (((word - lowest) & ~word & highest) === 0) continue;
		const from = before + at * 4;
		for (let index = from; index < from + 4; index++) if (isControl(bytes[index])) return true;
	}
	for (let at = before + words.length * 4; at < length; at++) if (isControl(bytes[at])) return true;
	return false;
}

/** FHIR has none of them in a text; NUL, no text column takes. */
export const controlCharacters = new RegExp(controlCharacter, 'g');

/** Returns the text without the NULs at its ends, by which systems fill fields up. */
export function withoutPadding(text: string): string {
	let [from, to] = [0, text.length];
	while (from < to && text.charCodeAt(from) === 0) from++;
	while (to > from && text.charCodeAt(to - 1) === 0) to--;
	return text.slice(from, to);
}

/**
 * Returns the text with U+FFFD for its control characters, and line ends for vertical tabs and form feeds. They are not left out: two numbers that
 * differ by one would be the same.
 */
export function withoutControls(text: string): string {
	return text.replace(controlCharacters, (character) => (character === '\v' || character === '\f' ? '\n' : '\ufffd'));
}
