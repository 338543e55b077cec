import { parse } from 'content-type';
import { Failure } from '#core/failure.ts';
import type { HttpRequest } from './message.ts';

/** A media type, or a range of them. */
export interface MediaType {
	/** The name in lower case; empty when there is none. */
	name: string;
	/** Parameters by lower-case name. Values are without quotes and keep their case. */
	parameters: Readonly<Record<string, string | undefined>>;
}

/** An element of Accept or Accept-Encoding. */
export interface AcceptedRange extends MediaType {
	/** From 0 (not accepted) to 1. */
	weight: number;
}

export function parseMediaType(text: string | undefined): MediaType {
	const { type, parameters } = parse(text ?? '');
	return { name: type, parameters };
}

/** Returns the elements of Accept or Accept-Encoding in their order. A weight that is no number from 0 to 1 counts as 0. */
export function acceptedRanges(header: string): AcceptedRange[] {
	const ranges: AcceptedRange[] = [];
	for (let start = 0; start < header.length; ) {
		const { type, parameters, index } = parse(header, { start, comma: true });
		start = index + 1;
		if (type === '') continue;
		const given = (parameters as MediaType['parameters'])['q'];
		const weight = given === undefined ? 1 : Number(given);
		ranges.push({ name: type, parameters, weight: weight >= 0 && weight <= 1 ? weight : 0 });
	}
	return ranges;
}

/**
 * Returns the media ranges that the caller accepts: the query parameter `accept` if given (PS3.18 §8.3.3.1), else the header Accept.
 * Without either everything is accepted.
 */
export function rangesOf(request: Pick<HttpRequest, 'header' | 'query'>): AcceptedRange[] {
	// An unescaped `+` in a media type arrives as a space.
	const parameter = new URLSearchParams(request.query).get('accept')?.replace(/(?<=\w) (?=\w)/g, '+');
	return acceptedRanges(parameter || request.header('accept') || '*/*');
}

/** Returns the accepted ranges, the best first; equal ones keep their order. */
export function byWeight(ranges: readonly AcceptedRange[]): AcceptedRange[] {
	return ranges.filter(({ weight }) => weight > 0).sort((left, right) => right.weight - left.weight);
}

/** Tells whether the range covers the media type: by its name, by its group, or because it covers all. */
export function includes(range: string, name: string): boolean {
	return range === '*/*' || range === name || (range.endsWith('/*') && name.startsWith(range.slice(0, -1)));
}

/** Returns how precise a range is: 0 for all types, 1 for a group, 2 for a single type. */
function precision(range: string): number {
	if (range === '*/*') return 0;
	return range.endsWith('/*') ? 1 : 2;
}

/**
 * Returns the range that decides about a media type: the most precise one that covers it, and the first of equally precise ones (RFC 9110
 * §12.5.1).
 */
function deciding(ranges: readonly AcceptedRange[], name: string): AcceptedRange | undefined {
	let best: AcceptedRange | undefined;
	for (const range of ranges) {
		if (includes(range.name, name) && (best === undefined || precision(range.name) > precision(best.name))) best = range;
	}
	return best;
}

/** Returns undefined when no range covers the media type. */
export function weightOf(ranges: readonly AcceptedRange[], name: string): number | undefined {
	return deciding(ranges, name)?.weight;
}

/**
 * Returns the offered media type with the greatest weight. Ties are decided by the order of the ranges, then by that of the offers.
 * @param offers the best first
 */
export function preferredType<Type extends string>(ranges: readonly AcceptedRange[], offers: readonly Type[]): Type | undefined {
	let best: { name: Type; weight: number; position: number } | undefined;
	for (const name of offers) {
		const range = deciding(ranges, name);
		if (range === undefined || range.weight === 0) continue;
		const position = ranges.indexOf(range);
		const { weight } = range;
		if (best === undefined || weight > best.weight || (weight === best.weight && position < best.position))
			best = { name, weight, position };
	}
	return best?.name;
}

/**
 * Returns the media type of a body, which must be one of `types`.
 * @throws Failure `unsupported-media-type`; also when the body has a content coding
 */
export function bodyType(request: Pick<HttpRequest, 'header'>, types: readonly string[]): MediaType {
	const type = parseMediaType(request.header('content-type'));
	if (!types.includes(type.name)) throw new Failure('unsupported-media-type', `Content-Type must be ${types.join(' or ')}`);
	refuseEncoding(request);
	return type;
}

/** @throws Failure `unsupported-media-type` when the body has a content coding */
export function refuseEncoding(request: Pick<HttpRequest, 'header'>): void {
	const encoding = request.header('content-encoding') ?? 'identity';
	if (encoding.toLowerCase() !== 'identity') throw new Failure('unsupported-media-type', 'Content-Encoding is not supported');
}
