import { Failure } from '#core/failure.ts';

const mediaTypes = new Set(['text/plain', 'application/hl7-v2', 'x-application/hl7-v2+er7']);
/** Sets in which the delimiters are single bytes. Which one it is, MSH-18 says. */
const charset = /^(utf-8|us-ascii|iso-8859-\d{1,2}|windows-125\d)$/;

/** @throws Failure `unsupported-media-type` */
export function checkMediaType(contentType: string | undefined, contentEncoding: string | undefined): void {
	const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
	if (!mediaTypes.has(type)) {
		throw new Failure('unsupported-media-type', `Content-Type is one of ${[...mediaTypes].join(', ')}`);
	}
	const named = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
	if (named !== undefined && !charset.test(named.replace(/^"(.*)"$/, '$1'))) {
		throw new Failure('unsupported-media-type', 'the charset of Content-Type is one with which HL7 v2 can be sent in bytes');
	}
	if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
		throw new Failure('unsupported-media-type', 'Content-Encoding is not supported');
	}
}
