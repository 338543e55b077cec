import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import type { WriteRequest } from './request.ts';

export const binaryType = 'Binary';

/** Header of a request with plain bytes: the resource whose rules of access hold for them (FHIR R4 §2.42). */
const securityHeader = 'x-security-context';
const jsonTypes = /^(?:application\/(?:fhir\+)?json|text\/json)$/;
const xmlBinary = /^\ufeff?\s*(?:<\?[^>]*\?>\s*|<!--[\s\S]{0,2000}?-->\s*)*<(?:[\w.-]+:)?Binary[\s/>]/;

/** Tells whether a request writes a Binary, whose body may be of any media type. */
export function takesAnyContent({ method, url }: Pick<WriteRequest, 'method' | 'url'>): boolean {
	return (method === 'POST' || method === 'PUT') && /^Binary(?:\/[^/?$]*)?(?:\?|$)/.test(url);
}

/** What the body of such a request stands for. */
export interface BinaryBody {
	resource: JsonObject;
	/** True for bytes that are stored as they were sent. */
	isPlain: boolean;
}

/**
 * Reads the body of a create or update of a Binary (FHIR R4 §3.1.0.1.12): the resource itself, or bytes of any media type, FHIR of other types
 * among them.
 * @param parse reads JSON, and throws a Failure where it is none
 * @throws Failure `unsupported-media-type` without a media type, and for a Binary in XML
 */
export function readBinaryBody({ url, headers, body }: WriteRequest, parse: (body: Uint8Array) => JsonObject): BinaryBody {
	const contentType = (headers['content-type'] ?? '').trim().replace(/\s+/g, ' ');
	const [name = ''] = contentType.toLowerCase().split(';');
	const type = name.trim();
	if (!/^[^\s/]+\/[^\s/]+$/.test(type)) throw new Failure('unsupported-media-type', 'Content-Type must name the media type of the content');
	if (jsonTypes.test(type)) {
		const resource = parse(body);
		if (resource['resourceType'] === binaryType) return { resource, isPlain: false };
	}
	const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
	if (/[/+]xml$/.test(type) && xmlBinary.test(bytes.toString('utf8', 0, 4096)))
		throw new Failure('unsupported-media-type', 'a Binary resource is taken in JSON only');
	const [, id] = (url.split('?')[0] ?? '').split('/');
	const context = headers[securityHeader];
	const resource: JsonObject = {
		resourceType: binaryType,
		...(id === undefined ? {} : { id }),
		contentType,
		...(context === undefined ? {} : { securityContext: { reference: context } }),
		...(bytes.length === 0 ? {} : { data: bytes.toString('base64') }),
	};
	return { resource, isPlain: true };
}
