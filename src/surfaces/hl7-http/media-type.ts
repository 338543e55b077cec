import { Failure } from '#core/failure.ts';
import { isSupportedEncoding } from '#hl7v3/encoding.ts';
import { acceptedRanges, bodyType, weightOf } from '../http/media-type.ts';
import type { HttpRequest } from '../http/message.ts';

const mediaTypes: readonly string[] = ['text/plain', 'application/hl7-v2', 'x-application/hl7-v2+er7'];
/** SOAP 1.2 has a type of its own (RFC 3902). */
const xmlMediaTypes: readonly string[] = ['application/xml', 'text/xml', 'application/soap+xml'];
/** Character sets in which the delimiters are single bytes. Where MSH-18 names none, the message is read in this one. */
const charsets = /^(utf-8|us-ascii|iso-8859-\d{1,2}|windows-125\d)$/;

/** Returns the charset of Content-Type. @throws Failure `unsupported-media-type` */
export function checkMediaType(request: Pick<HttpRequest, 'header'>): string | undefined {
	const charset = bodyType(request, mediaTypes).parameters['charset'];
	if (charset !== undefined && !charsets.test(charset.toLowerCase())) {
		throw new Failure('unsupported-media-type', 'the charset of Content-Type must be one in which HL7 v2 can be sent as bytes');
	}
	return charset;
}

/** @throws Failure `unsupported-media-type` */
export function checkXmlMediaType(request: Pick<HttpRequest, 'header'>): { type: string; charset: string | undefined } {
	const { name, parameters } = bodyType(request, xmlMediaTypes);
	const charset = parameters['charset']?.toLowerCase();
	if (charset !== undefined && !isSupportedEncoding(charset)) {
		throw new Failure('unsupported-media-type', 'the charset of Content-Type must be UTF-8, UTF-16, US-ASCII, ISO-8859-n or windows-125n');
	}
	return { type: name, charset };
}

/**
 * Tells by the weights of Accept whether the caller wants XML, as `type`, rather than JSON (RFC 9110 §12.5.1). XML wins a tie.
 * @throws Failure `not-acceptable` when neither is wanted
 */
export function answersXml(accept: string | undefined, type: string): boolean {
	if (accept === undefined || accept.trim() === '') return true;
	const ranges = acceptedRanges(accept);
	const named = xmlMediaTypes.filter((media) => ranges.some(({ name }) => name === media));
	const xml = Math.max(...[type, ...named].map((media) => weightOf(ranges, media) ?? 0));
	const json = weightOf(ranges, 'application/json') ?? 0;
	if (xml === 0 && json === 0) throw new Failure('not-acceptable', `the answer is available only as ${type} or application/json`);
	return xml >= json && xml > 0;
}
