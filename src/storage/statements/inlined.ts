import { textLiteral } from '../statement.ts';
import type { Query } from './parameters.ts';

/**
 * Returns the text of a query with its values in the places of its parameters, for COPY, which takes none. Every value becomes a literal of
 * its own: neither a quote nor a backslash ends it, whatever the settings of the server.
 */
export function inlined({ statement, values }: Query): string {
	return statement.text.replace(/\$(\d+)/g, (_parameter, number: string) => literal(values[Number(number) - 1]));
}

function literal(value: unknown): string {
	const text = Array.isArray(value) ? textLiteral(value.map(String)) : value;
	if (typeof text === 'number' && Number.isFinite(text)) return String(text);
	if (typeof text !== 'string') throw new Error('a value of this kind has no literal');
	if (text.includes('\0')) throw new Error('PostgreSQL has no text with NUL');
	return `E'${text.replace(/['\\]/g, '\\$&')}'`;
}
