import { Failure } from '#core/failure.ts';

/** The delimiters of one message (v2.5.1 §2.5.4), taken from its MSH-1 and MSH-2. */
export interface Delimiters {
	field: string;
	component: string;
	repetition: string;
	escape: string;
	/** Empty when MSH-2 declares none: then nothing is split into subcomponents. */
	subcomponent: string;
	/** The fifth character of MSH-2, since v2.7 (§2.5.5.2); empty before. */
	truncation: string;
}

export const defaultDelimiters: Delimiters = Object.freeze({
	field: '|',
	component: '^',
	repetition: '~',
	escape: '\\',
	subcomponent: '&',
	truncation: '',
});
const v27Delimiters: Delimiters = Object.freeze({ ...defaultDelimiters, truncation: '#' });

const byteOrderMark = '\xef\xbb\xbf';
/** Matches characters before a message that are no part of it: white space, NUL, a second start of block. */
const leading = /[\0\t\n\v\r ]*/y;

/** Returns the offset of `MSH` in bytes read as Latin-1, after a byte order mark and white space; -1 when something else comes first. */
export function findHeader(text: string): number {
	if (text.startsWith('MSH')) return 0;
	leading.lastIndex = text.startsWith(byteOrderMark) ? 3 : 0;
	leading.test(text);
	const start = leading.lastIndex;
	return text.startsWith('MSH', start) ? start : -1;
}

/** Letters and digits are data, white space and control characters are framing; neither can delimit. */
const usable = /^[!-/:-@[-`{-~]{4,6}$/;

function unusable(): Failure {
	return new Failure('not-hl7', 'MSH-1 and MSH-2 do not declare usable delimiters', {
		location: { segment: 'MSH', sequence: 1, field: 2 },
	});
}

/**
 * Reads MSH-1 and MSH-2 of the header at `start`. MSH-2 has three to five characters: without the fourth there are no
 * subcomponents, the fifth is the truncation character. Throws `not-hl7` when they repeat or cannot delimit.
 */
export function readDelimiters(text: string, start: number): Delimiters {
	if (text.startsWith('|^~\\&|', start + 3)) return defaultDelimiters;
	if (text.startsWith('|^~\\&#|', start + 3)) return v27Delimiters;
	// Some senders double the escape character, as in a string literal, because their templates are source code.
	if (text.startsWith('|^~\\\\&|', start + 3)) return defaultDelimiters;
	const field = text.charAt(start + 3);
	// MSH-2 has five characters at most; a longer text is no MSH-2, whatever follows.
	const rest = text.slice(start + 4, start + 10);
	const end = rest.search(field === '' ? /$/ : /[\r\n]|$/);
	const separator = field === '' ? -1 : rest.indexOf(field);
	const characters = rest.slice(0, separator === -1 ? end : Math.min(separator, end));
	const all = field + characters;
	if (!usable.test(all) || new Set(all).size !== all.length) throw unusable();
	const [component = '', repetition = '', mark = '', subcomponent = '', truncation = ''] = characters;
	return { field, component, repetition, escape: mark, subcomponent, truncation };
}
