import type { AccessDirectory, KeyGrant } from '#access/directory.ts';
import { Failure } from '#core/failure.ts';
import type { Limits } from '#core/limits.ts';
import type { Metrics } from '#core/metrics.ts';
import { searchset } from '#fhir/bundle.ts';
import { capabilityStatement } from '#fhir/capability-statement.ts';
import { operationOutcome } from '#fhir/operation-outcome.ts';
import type { Interaction, ResourceDefinition } from '#fhir/resource.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { cursorParameter, parseSearch } from '#fhir/search/parse.ts';
import { renderStored } from '#fhir/stored.ts';
import type { Reader } from '#storage/reader.ts';
import { countResources, readResource, searchResources } from '#storage/search.ts';
import type { HttpAnswer, HttpRequest, Route } from '../http/message.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { fhirAnswer, fhirJson } from './negotiation.ts';

export interface FhirContext {
	directory: AccessDirectory;
	reader: Reader;
	limits: Limits;
	metrics: Metrics;
	version: string;
	/** PUBLIC_METADATA: /fhir/metadata answers without a key. */
	publicMetadata: boolean;
}

/** The interactions of the FHIR surface (FHIR R4 §3.1.0), each a route. */
export function fhirRoutes(context: FhirContext): Route[] {
	return [
		{ method: 'GET', pattern: '/fhir/metadata', handle: (request) => metadata(context, request) },
		{ method: 'GET', pattern: '/fhir/:type', handle: (request) => searchType(context, request) },
		{ method: 'GET', pattern: '/fhir/:type/:id', handle: (request) => read(context, request) },
	];
}

/** Every failure, the transport's own included, is an OperationOutcome. */
export function renderFhirFailure(failure: Failure): HttpAnswer {
	const headers: Record<string, string> = { 'Content-Type': fhirJson };
	if (failure.code === 'unauthenticated') headers['WWW-Authenticate'] = 'X-API-Key';
	return { status: 500, headers, body: operationOutcome(failure) };
}

function authenticate({ directory, metrics }: FhirContext, request: HttpRequest): KeyGrant {
	const grant = directory.grantOfKey(request.header('x-api-key'));
	if (grant) return grant;
	metrics.accessRefusals.inc({ protocol: 'http', reason: 'key' });
	throw new Failure('unauthenticated', 'a valid API key is required in the header X-API-Key');
}

/** @throws Failure `not-found` for a type that is not served */
function definitionFor(request: HttpRequest, interaction: Interaction): ResourceDefinition {
	const definition = definitionOf(request.params['type'] ?? '');
	if (!definition?.interactions.includes(interaction)) throw new Failure('not-found', 'this resource type is not served');
	return definition;
}

function baseOf(request: HttpRequest): string {
	return `${request.secure ? 'https' : 'http'}://${request.header('host') ?? 'localhost'}/fhir`;
}

function metadata(context: FhirContext, request: HttpRequest): HttpAnswer {
	if (!context.publicMetadata) authenticate(context, request);
	return fhirAnswer(request, capabilityStatement({ version: context.version, base: baseOf(request), date: capabilityDate }));
}

/** Changes with the statement's content. */
const capabilityDate = '2026-11-21';

/** https://hl7.org/fhir/R4/http.html#read */
async function read(context: FhirContext, request: HttpRequest): Promise<HttpAnswer> {
	const grant = authenticate(context, request);
	const definition = definitionFor(request, 'read');
	const row = await readResource(context.reader, grant.siteId, definition.table.table, request.params['id'] ?? '');
	// The same answer for an id of another site, an id that never was, and what is no id.
	if (row === undefined) throw new Failure('not-found', `there is no ${definition.type} with this id`);
	const etag = `W/"${row.version}"`;
	const headers = { ETag: etag, 'Last-Modified': new Date(row.lastUpdated).toUTCString() };
	if (
		request
			.header('if-none-match')
			?.split(',')
			.some((tag) => tag.trim() === etag || tag.trim() === '*')
	)
		return { status: 304, headers };
	return fhirAnswer(request, renderStored(definition.type, row), headers);
}

/** https://hl7.org/fhir/R4/http.html#search */
async function searchType(context: FhirContext, request: HttpRequest): Promise<HttpAnswer> {
	const grant = authenticate(context, request);
	const definition = definitionFor(request, 'search-type');
	const lenient = /\bhandling\s*=\s*lenient\b/.test(request.header('prefer') ?? '');
	const search = parseSearch(definition, request.query, context.limits, lenient);
	const { type } = definition;
	const base = baseOf(request);
	const after = search.cursor === undefined ? undefined : decodeCursor(grant.siteId, type, search.applied, search.cursor);
	const plan = { ...search.plan, after };
	const counting = search.total || search.summary === 'count' ? countResources(context.reader, grant.siteId, plan) : undefined;
	const listing = search.summary === 'count' ? { rows: [], more: false } : searchResources(context.reader, grant.siteId, plan);
	const [page, counted] = await Promise.all([listing, counting]);
	const last = page.rows.at(-1);
	// A first page that is also the last has been counted for free.
	const total = counted ?? (after === undefined && !page.more ? page.rows.length : undefined);
	const next =
		page.more && last
			? url(base, type, [...search.applied, [cursorParameter, encodeCursor(grant.siteId, type, search.applied, last.id)]])
			: undefined;
	return fhirAnswer(request, searchset({ type, base, matches: page.rows, total, self: url(base, type, search.applied), next }));
}

function url(base: string, type: string, parameters: readonly (readonly [string, string])[]): string {
	const query = new URLSearchParams([...parameters] as [string, string][]).toString();
	return query === '' ? `${base}/${type}` : `${base}/${type}?${query}`;
}
