import type { Charset } from './charset.ts';
import { controlCharacters } from './control-characters.ts';
import type { Delimiters } from './delimiters.ts';

/** `\.sp9999999\` is a few bytes long, so the length of its expansion is bounded. */
const repeatMax = 100;

/** Formatting commands of FT (v2.5.1 §2.7.6), with their replacement in running text. */
function format(command: string): string | undefined {
	const match = /^\.(br|sp|ce|fi|nf|in|ti|sk)\+?(-?\d{0,9})$/.exec(command);
	if (match === null) return undefined;
	const count = Math.min(Math.max(match[2] ? Number(match[2]) : 1, 0), repeatMax);
	if (match[1] === 'br' || match[1] === 'ce') return '\n';
	if (match[1] === 'sp') return '\n'.repeat(count);
	return match[1] === 'sk' ? ' '.repeat(count) : '';
}

const hexadecimal = /^X(?:[0-9A-Fa-f]{2})+$/;

function fromHex(sequence: string, charset: Charset): string {
	return charset.decode(Buffer.from(sequence.slice(1), 'hex').toString('latin1')).replaceAll(controlCharacters, '');
}

function single(sequence: string, delimiters: Delimiters): string | undefined {
	switch (sequence) {
		case 'F':
			return delimiters.field;
		case 'S':
			return delimiters.component;
		case 'T':
			return delimiters.subcomponent || '&';
		case 'R':
			return delimiters.repetition;
		case 'E':
			return delimiters.escape;
		case 'P':
			return delimiters.truncation || '#';
		case 'H':
		case 'N':
			return '';
		default:
			return undefined;
	}
}

/** Character set switches (`\C..\`, `\M..\`) and local sequences (`\Z..\`) are kept, so that a reader sees them. */
const readable = /^(?:C[0-9A-Fa-f]{4}|M[0-9A-Fa-f]{4,6}|Z[^\r\n]{0,64})$/;

/**
 * Resolves the escape sequences of v2.5.1 §2.7 in decoded text. A text that is no sequence stays as it is: a path such as `C:\scan\1` is
 * read as
 * written.
 */
export function unescapeText(text: string, delimiters: Delimiters, charset: Charset): string {
	const { escape: mark } = delimiters;
	let result = '';
	let position = 0;
	let start = text.indexOf(mark);
	while (start !== -1) {
		const end = text.indexOf(mark, start + 1);
		if (end === -1) break;
		const sequence = text.slice(start + 1, end);
		const value = single(sequence, delimiters) ?? (hexadecimal.test(sequence) ? fromHex(sequence, charset) : undefined) ?? format(sequence);
		if (value !== undefined) {
			result += text.slice(position, start) + value;
			position = end + 1;
			start = text.indexOf(mark, position);
		} else {
			// The second character of a malformed sequence may begin a sequence itself.
			start = readable.test(sequence) ? text.indexOf(mark, end + 1) : end;
		}
	}
	return result + text.slice(position);
}

/** Escapes delimiters for a field of our own. Line ends and control characters become spaces: they would end the segment. */
export function escapeText(text: string, delimiters: Delimiters): string {
	const { field, component, repetition, escape: mark, subcomponent } = delimiters;
	let result = '';
	for (const character of text) {
		if (character < ' ') result += ' ';
		else if (character === field) result += `${mark}F${mark}`;
		else if (character === component) result += `${mark}S${mark}`;
		else if (character === repetition) result += `${mark}R${mark}`;
		else if (character === mark) result += `${mark}E${mark}`;
		else if (character === subcomponent) result += `${mark}T${mark}`;
		else result += character;
	}
	return result;
}
