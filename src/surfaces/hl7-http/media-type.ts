import { Failure } from '#core/failure.ts';
import { isSupportedEncoding } from '#hl7v3/encoding.ts';

const mediaTypes: readonly string[] = ['text/plain', 'application/hl7-v2', 'x-application/hl7-v2+er7'];
/** SOAP 1.2 has a type of its own (RFC 3902). */
const xmlMediaTypes: readonly string[] = ['application/xml', 'text/xml', 'application/soap+xml'];
/** Sets in which the delimiters are single bytes. Which one it is, MSH-18 says. */
const charsets = /^(utf-8|us-ascii|iso-8859-\d{1,2}|windows-125\d)$/;

interface MediaType {
	type: string;
	charset: string | undefined;
}

/** @throws Failure `unsupported-media-type` */
export function checkMediaType(contentType: string | undefined, contentEncoding: string | undefined): void {
	const { charset } = oneOf(mediaTypes, contentType, contentEncoding);
	if (charset !== undefined && !charsets.test(charset)) {
		throw new Failure('unsupported-media-type', 'the charset of Content-Type is one with which HL7 v2 can be sent in bytes');
	}
}

/** @throws Failure `unsupported-media-type` */
export function checkXmlMediaType(contentType: string | undefined, contentEncoding: string | undefined): MediaType {
	const media = oneOf(xmlMediaTypes, contentType, contentEncoding);
	if (media.charset !== undefined && !isSupportedEncoding(media.charset)) {
		throw new Failure('unsupported-media-type', 'the charset of Content-Type is UTF-8, UTF-16, US-ASCII, ISO-8859-n or windows-125n');
	}
	return media;
}

function oneOf(types: readonly string[], contentType: string | undefined, contentEncoding: string | undefined): MediaType {
	const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
	if (!types.includes(type)) throw new Failure('unsupported-media-type', `Content-Type is one of ${types.join(', ')}`);
	if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
		throw new Failure('unsupported-media-type', 'Content-Encoding is not supported');
	}
	const named = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
	return { type, charset: named?.replace(/^"(.*)"$/, '$1') };
}

/**
 * Whether the caller is answered in XML, as `type`, rather than JSON: by the weights of Accept (RFC 9110 §12.5.1); XML
 * where both are wanted alike.
 * @throws Failure `not-acceptable` when neither is wanted
 */
export function answersXml(accept: string | undefined, type: string): boolean {
	if (accept === undefined || accept.trim() === '') return true;
	const ranges = accept.split(',').map(range);
	const weight = (media: string) => {
		const [group] = media.split('/');
		const found = [media, `${group}/*`, '*/*'].map((name) => ranges.find((one) => one.name === name)).find((one) => one !== undefined);
		return found?.weight ?? 0;
	};
	const xml = Math.max(weight(type), ...xmlMediaTypes.map((media) => (ranges.some(({ name }) => name === media) ? weight(media) : 0)));
	const json = weight('application/json');
	if (xml === 0 && json === 0) throw new Failure('not-acceptable', `the answer is ${type} or application/json`);
	return xml >= json && xml > 0;
}

function range(text: string): { name: string; weight: number } {
	const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
	const given = parameters.find((parameter) => parameter.startsWith('q='));
	const weight = given === undefined ? 1 : Number(given.slice(2));
	return { name, weight: weight >= 0 && weight <= 1 ? weight : 0 };
}
