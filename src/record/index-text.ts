import { createHash } from 'node:crypto';

/** A longer text would not fit an entry of a B-tree index together with the other columns. */
const charactersMax = 250;

/**
 * Returns the form of a text in an index. PostgreSQL's B-trees take no entry of more than 2,704 bytes, so a longer text is cut and made
 * distinct by its SHA-256. Search values are cut in the same way.
 */
export function indexText(text: string): string {
	if (text.length <= charactersMax) return text;
	// A pair of surrogates must not be split.
	return `${text.slice(0, 150).toWellFormed()}#${createHash('sha256').update(text).digest('hex')}`;
}
