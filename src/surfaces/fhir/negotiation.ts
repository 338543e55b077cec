import { Failure } from '#core/failure.ts';
import { acceptedRanges, type MediaType, parseMediaType, preferredType, weightOf } from '../http/media-type.ts';
import type { HttpRequest } from '../http/message.ts';

const fhirJson = 'application/fhir+json; fhirVersion=4.0; charset=utf-8';
const plainJson = 'application/json; charset=utf-8';

/** Values of `_format` (FHIR R4 §3.1.0.1.11). */
const byFormat: ReadonlyMap<string, string> = new Map([
	['json', fhirJson],
	['application/fhir+json', fhirJson],
	['application/json', plainJson],
	['text/json', plainJson],
]);

/** The media types that Accept may choose, the best first. */
const byName: ReadonlyMap<string, string> = new Map([
	['application/fhir+json', fhirJson],
	['application/json', plainJson],
	['text/json', plainJson],
]);
const offers = [...byName.keys()];

/**
 * Returns the media type of the answer: `_format` first, then Accept by its weights.
 * @throws Failure `not-acceptable` when neither allows FHIR 4.0 in JSON
 */
export function answerType(request: Pick<HttpRequest, 'header' | 'query'>): string {
	const format = new URLSearchParams(request.query).get('_format');
	if (format !== null && format !== '') {
		// An unescaped `+` in a query arrives as a space.
		const asked = parseMediaType(format);
		const type = byFormat.get(asked.name.replace(' ', '+'));
		const location = { expression: '_format' };
		if (type === undefined) throw new Failure('not-acceptable', 'this server answers FHIR JSON only', { location });
		if (!isOurVersion(asked)) throw new Failure('not-acceptable', 'this server answers FHIR version 4.0', { location });
		return type;
	}
	const type = acceptedType(request.header('accept'));
	if (type === undefined) throw new Failure('not-acceptable', 'this server answers application/fhir+json, FHIR version 4.0');
	return type;
}

/** Returns the media type of a failure, which is JSON whatever was asked for. */
export function failureType(request: Pick<HttpRequest, 'header'>): string {
	return acceptedType(request.header('accept')) ?? fhirJson;
}

function acceptedType(accept: string | undefined): string | undefined {
	if (accept === undefined || accept.trim() === '') return fhirJson;
	return byName.get(preferredType(acceptedRanges(accept).filter(isOurVersion), offers) ?? '');
}

/**
 * Tells whether a Binary is wanted as a resource rather than as its bytes (FHIR R4 §3.1.0.1.12). Only a client that asks for FHIR JSON by
 * name gets the resource.
 * @throws Failure `not-acceptable` when FHIR is asked for in another form
 */
export function wantsResource(request: Pick<HttpRequest, 'header' | 'query'>, contentType: string): boolean {
	if (new URLSearchParams(request.query).get('_format')) return answerType(request) !== '';
	const ranges = acceptedRanges(request.header('accept') ?? '').filter(isOurVersion);
	const named = (type: string) => ranges.find(({ name }) => name === type);
	const asBytes = weightOf(ranges, parseMediaType(contentType).name);
	const asResource = named('application/fhir+json')?.weight ?? 0;
	if (asResource > 0) return asResource >= (asBytes ?? 0);
	if (named('application/fhir+xml') !== undefined && asBytes === undefined)
		throw new Failure('not-acceptable', 'this server answers FHIR JSON only');
	return false;
}

function isOurVersion({ parameters }: MediaType): boolean {
	const version = parameters['fhirversion'];
	return version === undefined || version === '4.0' || version === '4.0.1';
}

/** Tells whether the request has `Prefer: handling=lenient`, which makes the server ignore unknown parameters. */
export function isLenient(request: Pick<HttpRequest, 'header'>): boolean {
	return /\bhandling\s*=\s*"?lenient\b/i.test(request.header('prefer') ?? '');
}
