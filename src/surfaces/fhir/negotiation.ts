import { Failure } from '#core/failure.ts';
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

/** Media ranges of Accept. */
const byRange: ReadonlyMap<string, string> = new Map([
	['application/fhir+json', fhirJson],
	['application/json', plainJson],
	['text/json', plainJson],
	['application/*', fhirJson],
	['*/*', fhirJson],
]);

/**
 * The media type of the answer: `_format` first, then Accept by its weights.
 * @throws Failure `not-acceptable` when neither allows FHIR 4.0 in JSON
 */
export function answerType(request: Pick<HttpRequest, 'header' | 'query'>): string {
	const format = new URLSearchParams(request.query).get('_format');
	if (format !== null && format !== '') {
		// In a query an unescaped `+` arrives as a space.
		const type = byFormat.get(format.split(';')[0]?.trim().toLowerCase().replace(' ', '+') ?? '');
		if (type === undefined)
			throw new Failure('not-acceptable', 'this server answers FHIR JSON only', { location: { expression: '_format' } });
		return type;
	}
	const type = acceptedType(request.header('accept'));
	if (type === undefined) throw new Failure('not-acceptable', 'this server answers application/fhir+json, FHIR version 4.0');
	return type;
}

/** A failure is told in JSON, whatever was asked for. */
export function failureType(request: Pick<HttpRequest, 'header'>): string {
	return acceptedType(request.header('accept')) ?? fhirJson;
}

function acceptedType(accept: string | undefined): string | undefined {
	if (accept === undefined || accept.trim() === '') return fhirJson;
	let best: { type: string; weight: number } | undefined;
	for (const range of accept.split(',')) {
		const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
		const type = byRange.get(name);
		const weight = weightOf(parameters);
		if (type === undefined || weight === 0 || !isOurVersion(parameters)) continue;
		if (best === undefined || weight > best.weight) best = { type, weight };
	}
	return best?.type;
}

/**
 * Whether a Binary is wanted as a resource rather than as its bytes (FHIR R4 §3.1.0.1.12): only by who asks for FHIR JSON by name.
 * @throws Failure `not-acceptable` when FHIR is asked for in another form
 */
export function wantsResource(request: Pick<HttpRequest, 'header' | 'query'>, contentType: string): boolean {
	if (new URLSearchParams(request.query).get('_format')) return answerType(request) !== '';
	const [media = ''] = contentType.split(';');
	const weights = new Map<string, number>();
	for (const range of (request.header('accept') ?? '').split(',')) {
		const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
		if (isOurVersion(parameters)) weights.set(name, weightOf(parameters));
	}
	const asResource = weights.get('application/fhir+json') ?? 0;
	const asBytes = [media, `${media.split('/')[0]}/*`, '*/*'].map((name) => weights.get(name)).find((weight) => weight !== undefined);
	if (asResource > 0) return asResource >= (asBytes ?? 0);
	if (weights.has('application/fhir+xml') && asBytes === undefined)
		throw new Failure('not-acceptable', 'this server answers FHIR JSON only');
	return false;
}

function weightOf(parameters: readonly string[]): number {
	const given = parameters.find((parameter) => parameter.startsWith('q='));
	const weight = given === undefined ? 1 : Number(given.slice(2));
	return weight >= 0 && weight <= 1 ? weight : 0;
}

function isOurVersion(parameters: readonly string[]): boolean {
	const version = parameters.find((parameter) => parameter.startsWith('fhirversion='));
	return version === undefined || /^fhirversion="?4\.0(\.1)?"?$/.test(version);
}
