import { Failure } from '#core/failure.ts';
import type { HttpRequest } from '../http/message.ts';

/** A media type or range, in lower case but for the values of its parameters, which stand without quotes. */
export interface MediaType {
	name: string;
	parameters: ReadonlyMap<string, string>;
}

/** `;` and `,` inside quotes separate nothing (RFC 9110 §5.6.4). */
function split(text: string, separator: ',' | ';'): string[] {
	const parts: string[] = [];
	let from = 0;
	let isQuoted = false;
	for (let at = 0; at < text.length; at++) {
		const character = text[at];
		if (character === '\\' && isQuoted) at += 1;
		else if (character === '"') isQuoted = !isQuoted;
		else if (character === separator && !isQuoted) {
			parts.push(text.slice(from, at));
			from = at + 1;
		}
	}
	parts.push(text.slice(from));
	return parts.map((part) => part.trim());
}

function unquoted(text: string): string {
	return text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).replace(/\\(.)/g, '$1') : text;
}

export function parseMediaType(text: string): MediaType {
	const [name = '', ...rest] = split(text, ';');
	const parameters = new Map<string, string>();
	for (const part of rest) {
		const end = part.indexOf('=');
		if (end > 0) parameters.set(part.slice(0, end).trim().toLowerCase(), unquoted(part.slice(end + 1).trim()));
	}
	return { name: name.toLowerCase(), parameters };
}

/**
 * What the caller takes, the best first: the query parameter `accept` where it is given (PS3.18 §8.3.3.1), else Accept. Nothing
 * given takes everything.
 */
export function acceptedTypes(request: Pick<HttpRequest, 'header' | 'query'>): MediaType[] {
	// A `+` of a media type that is not escaped arrives as a space.
	const parameter = new URLSearchParams(request.query).get('accept')?.replaceAll(' ', '+');
	const text = parameter || request.header('accept') || '*/*';
	return split(text, ',')
		.map((range) => parseMediaType(range))
		.map((range) => ({ range, weight: weightOf(range) }))
		.filter(({ weight }) => weight > 0)
		.sort((left, right) => right.weight - left.weight)
		.map(({ range }) => range);
}

function weightOf({ parameters }: MediaType): number {
	const given = parameters.get('q');
	const weight = given === undefined ? 1 : Number(given);
	return weight >= 0 && weight <= 1 ? weight : 0;
}

export function includes(range: string, name: string): boolean {
	return range === '*/*' || range === name || (range.endsWith('/*') && name.startsWith(range.slice(0, -1)));
}

const jsonTypes = ['application/dicom+json', 'application/json'] as const;

/** @throws Failure `not-acceptable` when the caller takes no JSON */
export function jsonType(request: Pick<HttpRequest, 'header' | 'query'>): string {
	for (const { name } of acceptedTypes(request)) {
		const type = jsonTypes.find((own) => includes(name, own));
		if (type !== undefined) return type;
	}
	throw new Failure('not-acceptable', 'this is answered as application/dicom+json');
}
