import { createHash } from 'node:crypto';

const charactersMax = 250;

/**
 * A text as an index holds it: PostgreSQL's B-trees take no entry of more than 2,704 bytes. A longer one is cut and told
 * apart by its SHA-256; what is searched for is cut alike.
 */
export function indexText(text: string): string {
	if (text.length <= charactersMax) return text;
	// A pair of surrogates is not cut apart.
	return `${text.slice(0, 150).toWellFormed()}#${createHash('sha256').update(text).digest('hex')}`;
}
