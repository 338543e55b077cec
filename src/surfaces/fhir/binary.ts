import { Failure } from '#core/failure.ts';
import { requireScope } from '#record/scopes.ts';
import { findBinary, readBinary, type StoredBinary } from '#storage/binaries.ts';
import { authorize } from '../http/authorize.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { FhirContext } from './context.ts';
import { answerType, wantsResource } from './negotiation.ts';
import { isUnchanged } from './read.ts';

/** Media types that a browser displays but does not execute. */
const passive =
	/^(?:text\/plain|application\/pdf|application\/dicom|image\/(?:png|jpeg|gif|tiff|bmp|webp)|audio\/[\w.+-]+|video\/[\w.+-]+)(?:;|$)/;

/**
 * https://hl7.org/fhir/R4/http.html#binary: answers the bytes with their own media type, or the resource. A browser never executes them
 * on this origin, whatever they are.
 */
export async function binary(context: FhirContext, request: HttpRequest): Promise<HttpAnswer> {
	const { siteId, scopes } = await authorize(context, request);
	requireScope(scopes, 'Binary', 'r');
	// The bytes are those of a document, whose scope decides too (FHIR R4 §2.42, securityContext).
	requireScope(scopes, 'DocumentReference', 'r');
	const stored = await findBinary(context.reader, siteId, request.params['id'] ?? '');
	// The answer is the same for an id of another site, an unknown id and a malformed id.
	if (stored === undefined) throw new Failure('not-found', 'there is no Binary with this id');
	const asResource = wantsResource(request, stored.contentType);
	const headers = {
		ETag: 'W/"1"',
		'Last-Modified': new Date(stored.lastUpdated).toUTCString(),
		'X-Content-Type-Options': 'nosniff',
		Vary: 'Accept',
	};
	if (isUnchanged(request, { version: '1', lastUpdated: stored.lastUpdated })) return { status: 304, headers };
	const pieces = readBinary(context.reader, siteId, stored);
	if (asResource) {
		return { status: 200, headers: { 'Content-Type': answerType(request), ...headers }, body: resource(stored, pieces) };
	}
	return { status: 200, headers: { ...headers, ...native(stored) }, body: decoded(pieces) };
}

function native({ contentType, documentId }: StoredBinary): Record<string, string> {
	return {
		'Content-Type': contentType,
		'Content-Security-Policy': "sandbox; default-src 'none'",
		'X-Security-Context': `DocumentReference/${documentId}`,
		...(passive.test(contentType) ? {} : { 'Content-Disposition': 'attachment' }),
	};
}

async function* decoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
	for await (const piece of pieces) yield Buffer.from(piece, 'base64');
}

async function* resource(
	{ id, contentType, documentId, lastUpdated }: StoredBinary,
	pieces: AsyncIterable<string>,
): AsyncGenerator<Uint8Array> {
	const head = JSON.stringify({
		resourceType: 'Binary',
		id,
		meta: { versionId: '1', lastUpdated },
		contentType,
		securityContext: { reference: `DocumentReference/${documentId}` },
	});
	yield Buffer.from(`${head.slice(0, -1)},"data":"`);
	for await (const piece of pieces) yield Buffer.from(piece);
	yield Buffer.from('"}');
}
