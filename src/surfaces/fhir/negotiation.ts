import { Failure } from '#core/failure.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';

const fhirJson = 'application/fhir+json; fhirVersion=4.0; charset=utf-8';
const plainJson = 'application/json; charset=utf-8';

const byFormat: Readonly<Record<string, string>> = {
	json: fhirJson,
	'application/fhir+json': fhirJson,
	'application/json': plainJson,
	'text/json': plainJson,
};

/**
 * The media type of the answer (FHIR R4 §3.1.0.1.11): `_format` first, then Accept.
 * @throws Failure `not-acceptable` when neither allows JSON
 */
export function answerType(request: Pick<HttpRequest, 'header' | 'query'>): string {
	const format = new URLSearchParams(request.query).get('_format');
	if (format !== null && format !== '') {
		const type = byFormat[format.split(';')[0]?.trim().toLowerCase() ?? ''];
		if (type === undefined) throw new Failure('not-acceptable', 'this server answers FHIR JSON only');
		return type;
	}
	return acceptedType(request.header('accept') ?? '*/*');
}

function acceptedType(accept: string): string {
	for (const range of accept.split(',')) {
		const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
		if (parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) continue;
		const version = parameters.find((parameter) => parameter.startsWith('fhirversion='));
		if (version !== undefined && !/^fhirversion="?4\.0"?$/.test(version)) continue;
		if (type === 'application/json' || type === 'text/json') return plainJson;
		if (type === 'application/fhir+json' || type === '*/*' || type === 'application/*') return fhirJson;
	}
	throw new Failure('not-acceptable', 'this server answers application/fhir+json, FHIR version 4.0');
}

export function fhirAnswer(
	request: Pick<HttpRequest, 'header' | 'query'>,
	body: string,
	headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
	return { status: 200, headers: { 'Content-Type': answerType(request), ...headers }, body };
}

export { fhirJson };
