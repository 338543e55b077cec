/**
 * Folds text for the comparison of names: canonical composition, without case. Upper case comes first, so that ß equals ss and ı equals i;
 * a
 * final sigma is a sigma.
 */
export function folded(text: string): string {
	if (isAscii(text)) return text.toLowerCase();
	return text.normalize('NFC').toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Accents, as characters of their own behind the letter. Marks of other scripts make other letters, and stay (が). */
const accents = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/g;

/** Letters with a stroke and ligatures, which Unicode does not take apart. */
const letters: Readonly<Record<string, string>> = { ø: 'o', đ: 'd', ð: 'd', ł: 'l', ħ: 'h', ŧ: 't', æ: 'ae', œ: 'oe', þ: 'th' };

/**
 * Folds text for searches, which are normalized by case and accent (FHIR R4 §3.1.1.4.8). `tributary_plain` does the same in the database
 * (migrations/0035-plain-names.ts).
 */
export function plain(text: string): string {
	const given = folded(text);
	if (isAscii(given)) return given;
	return given
		.normalize('NFD')
		.replace(accents, '')
		.normalize('NFC')
		.replace(/[øđðłħŧæœþ]/g, (letter) => letters[letter] ?? letter);
}

function isAscii(text: string): boolean {
	for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false;
	return true;
}
