import type { KeyGrant } from '#access/directory.ts';
import { Failure } from '#core/failure.ts';
import { parseExact } from '#core/json.ts';
import { asObject, asText } from '#fhir/elements.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { binaryType } from '#fhir/write/binary.ts';
import { requireOneBinary, requireScope } from '#record/scopes.ts';
import type { StoredResource } from '#record/stored-resource.ts';
import { findBinary, findWrittenBinary, readBinary, type StoredBinary } from '#storage/binaries.ts';
import { readVersion } from '#storage/search.ts';
import { authorize } from '../http/authorize.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { FhirContext } from './context.ts';
import { answerType, wantsResource } from './negotiation.ts';
import { isUnchanged, refuseDeleted, resourceAnswer } from './read.ts';

/** Media types that a browser displays but does not execute. */
const passive =
	/^(?:text\/plain|application\/pdf|application\/dicom|image\/(?:png|jpeg|gif|tiff|bmp|webp)|audio\/[\w.+-]+|video\/[\w.+-]+)\s*(?:;|$)/i;

/** The version of the bytes of a document, which are written once. */
const onlyVersion = '1';

/**
 * https://hl7.org/fhir/R4/http.html#binary: answers the bytes with their own media type, or the resource, of the newest version or the one
 * that the path names. A browser never executes them on this origin, whatever they are.
 */
export async function binary(context: FhirContext, request: HttpRequest): Promise<HttpAnswer> {
	const grant = await authorize(context, request);
	requireOneBinary(grant.scopes);
	const { id = '', version = onlyVersion } = request.params;
	const document = version === onlyVersion ? await findBinary(context.reader, grant.siteId, id) : undefined;
	return document === undefined ? written(context, request, grant) : ofDocument(context, request, grant, document);
}

/** The bytes of a document, whose scope decides too (FHIR R4 §2.42, securityContext). */
function ofDocument(context: FhirContext, request: HttpRequest, { siteId, scopes }: KeyGrant, stored: StoredBinary): HttpAnswer {
	requireScope(scopes, 'DocumentReference', 'r');
	const headers = {
		ETag: `W/"${onlyVersion}"`,
		'Last-Modified': new Date(stored.lastUpdated).toUTCString(),
		'X-Content-Type-Options': 'nosniff',
		Vary: 'Accept',
	};
	const asResource = wantsResource(request, stored.contentType);
	if (isUnchanged(request, { version: onlyVersion, lastUpdated: stored.lastUpdated })) return { status: 304, headers };
	const pieces = readBinary(context.reader, siteId, stored);
	if (asResource) {
		return { status: 200, headers: { 'Content-Type': answerType(request), ...headers }, body: resource(stored, pieces) };
	}
	return {
		status: 200,
		headers: { ...headers, ...native(stored.contentType, `DocumentReference/${stored.documentId}`) },
		body: decoded(pieces),
	};
}

/** A Binary that a client wrote. The resource that its security context names has a say about its bytes. */
async function written(context: FhirContext, request: HttpRequest, { siteId, scopes }: KeyGrant): Promise<HttpAnswer> {
	const definition = definitionOf(binaryType);
	if (definition === undefined) throw new Error('Binary is not defined');
	const { id = '', version } = request.params;
	const { table } = definition.table;
	const row =
		version === undefined
			? await findWrittenBinary(context.reader, siteId, table, id)
			: await readVersion(context.reader, siteId, { table, type: definition.type, id, version });
	// The answer is the same for an id of another site, an unknown id and a malformed id.
	if (row === undefined) throw new Failure('not-found', `there is no Binary with this id${version === undefined ? '' : ' and version'}`);
	refuseDeleted(binaryType, row);
	const { contentType, securityContext, bytes } = contentOf(row);
	const [secured = ''] = securityContext?.match(/[A-Z][A-Za-z]+(?=\/[^/]+(?:\/_history\/[^/]+)?$)/) ?? [];
	if (definitionOf(secured) !== undefined) requireScope(scopes, secured, 'r');
	const headers = { 'X-Content-Type-Options': 'nosniff', Vary: 'Accept' };
	if (wantsResource(request, contentType)) {
		const answer = resourceAnswer(row, { context, request, definition, mediaType: answerType(request) });
		return { ...answer, headers: { ...answer.headers, ...headers } };
	}
	const validators = { ETag: `W/"${row.version}"`, 'Last-Modified': new Date(row.lastUpdated).toUTCString() };
	if (isUnchanged(request, row)) return { status: 304, headers: { ...headers, ...validators } };
	return { status: 200, headers: { ...headers, ...validators, ...native(contentType, securityContext) }, body: bytes() };
}

function contentOf({ text }: StoredResource): { contentType: string; securityContext: string | undefined; bytes: () => Uint8Array } {
	const content = parseExact(text);
	return {
		contentType: asText(content['contentType']) ?? 'application/octet-stream',
		securityContext: asText(asObject(content['securityContext'])?.['reference']),
		bytes: () => Buffer.from(asText(content['data']) ?? '', 'base64'),
	};
}

function native(contentType: string, securityContext: string | undefined): Record<string, string> {
	return {
		'Content-Type': contentType,
		'Content-Security-Policy': "sandbox; default-src 'none'",
		...(securityContext === undefined ? {} : { 'X-Security-Context': securityContext }),
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
		resourceType: binaryType,
		id,
		meta: { versionId: onlyVersion, lastUpdated },
		contentType,
		securityContext: { reference: `DocumentReference/${documentId}` },
	});
	yield Buffer.from(`${head.slice(0, -1)},"data":"`);
	for await (const piece of pieces) yield Buffer.from(piece);
	yield Buffer.from('"}');
}
