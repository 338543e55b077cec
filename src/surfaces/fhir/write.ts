import type { KeyGrant } from '#access/directory.ts';
import { Failure } from '#core/failure.ts';
import { newId, nilId } from '#core/id.ts';
import type { Interaction } from '#fhir/resource.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { permissionOf } from '#fhir/scopes.ts';
import { requireAllowed } from '#fhir/write/allowed.ts';
import { takesAnyContent } from '#fhir/write/binary.ts';
import { baseHeader, carriedHeaders, encodeRequest } from '#fhir/write/request.ts';
import type { FhirAnswer, FhirDelivery, Reply } from '#record/delivery.ts';
import { requireScope } from '#record/scopes.ts';
import { authorize } from '../http/authorize.ts';
import { deliverSoon } from '../http/deliver.ts';
import { bodyType, refuseEncoding } from '../http/media-type.ts';
import type { HttpAnswer, HttpRequest, Route } from '../http/message.ts';
import { baseOf } from './base.ts';
import { bundleAnswer } from './bundle-answer.ts';
import type { FhirContext } from './context.ts';
import { answerType, failureType } from './negotiation.ts';

interface WriteRoute extends Pick<Route, 'method' | 'pattern'> {
	/** Undefined for routes that are no interaction on one resource type. */
	interaction: Interaction | undefined;
}

const writes: readonly WriteRoute[] = [
	{ method: 'POST', pattern: '/fhir/:type', interaction: 'create' },
	{ method: 'PUT', pattern: '/fhir/:type/:id', interaction: 'update' },
	{ method: 'PUT', pattern: '/fhir/:type', interaction: 'update' },
	{ method: 'PATCH', pattern: '/fhir/:type/:id', interaction: 'patch' },
	{ method: 'PATCH', pattern: '/fhir/:type', interaction: 'patch' },
	{ method: 'DELETE', pattern: '/fhir/:type/:id', interaction: 'delete' },
	{ method: 'DELETE', pattern: '/fhir/:type', interaction: 'delete' },
	{ method: 'POST', pattern: '/fhir', interaction: undefined },
];

/**
 * Serves the interactions that change the record (FHIR R4 §3.1.0.4 to §3.1.0.11). Each request goes to its site's mailbox like any
 * message and is answered when it is committed or refused. `readRoutes` answer the entries of a Bundle that only read.
 */
export function writeRoutes(context: FhirContext, readRoutes: readonly Route[]): Route[] {
	return writes.map(({ method, pattern, interaction }) => ({
		method,
		pattern,
		// Each entry of a Bundle needs the scope of its own interaction.
		keyScope: interaction === undefined ? undefined : 'write',
		handle: (request: HttpRequest) => write(context, request, interaction, readRoutes),
	}));
}

async function write(
	context: FhirContext,
	request: HttpRequest,
	interaction: Interaction | undefined,
	readRoutes: readonly Route[],
): Promise<HttpAnswer> {
	const grant = await authorize(context, request);
	const isOfAnyContent = takesAnyContent({ method: request.method, url: request.path.slice('/fhir/'.length) });
	// Accept may name the media type of the bytes.
	const mediaType = isOfAnyContent ? failureType(request) : answerType(request);
	const { type } = request.params;
	if (type !== undefined) {
		const definition = definitionOf(type);
		if (definition === undefined) throw new Failure('unsupported-resource-type', 'this resource type is not served');
		if (interaction) requireAllowed(definition, { interaction, isOfInstance: request.params['id'] !== undefined }, grant.settings);
		if (interaction) requireScope(grant.scopes, type, permissionOf[interaction]);
	}
	if (isOfAnyContent) refuseEncoding(request);
	else if (request.method !== 'DELETE') checkContentType(request);
	return carryOut(context, request, { grant, mediaType, readRoutes });
}

interface CarryingOut {
	grant: KeyGrant;
	mediaType: string;
	/** They answer the entries of a Bundle that only read. */
	readRoutes: readonly Route[];
}

/** Lets the worker of the caller's site carry a request out, and returns its answer. */
export async function carryOut(
	context: FhirContext,
	request: HttpRequest,
	{ grant, mediaType, readRoutes }: CarryingOut,
): Promise<HttpAnswer> {
	const reply = await deliverSoon(context, deliveryOf(context, grant, request));
	count(context, grant, request, reply);
	return answerOf(request, reply, mediaType, readRoutes, context.limits.searchBytesMax);
}

/** @throws Failure `unsupported-media-type` */
export function checkContentType(request: HttpRequest): void {
	const { parameters } = bodyType(
		request,
		request.method === 'PATCH' ? ['application/json-patch+json'] : ['application/fhir+json', 'application/json'],
	);
	const charset = parameters['charset']?.toLowerCase() ?? 'utf-8';
	if (charset !== 'utf-8') throw new Failure('unsupported-media-type', 'FHIR JSON must be in UTF-8');
	const version = parameters['fhirversion'] ?? '4.0';
	if (version !== '4.0' && version !== '4.0.1') throw new Failure('unsupported-media-type', 'only FHIR version 4.0 is served');
}

/** The host alone is looked for, because JSON may have its slashes escaped. */
function namesHost({ body, origin }: HttpRequest): boolean {
	return Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(origin.slice(origin.indexOf('//') + 2));
}

function deliveryOf({ clock, libraries }: FhirContext, grant: KeyGrant, request: HttpRequest): FhirDelivery {
	const receivedAtMs = clock.nowMs();
	const definitions = libraries.versionOf(grant.siteId);
	const headers: Record<string, string> = {};
	for (const name of carriedHeaders) {
		const value = request.header(name);
		if (value !== undefined) headers[name] = value;
	}
	const path = request.path.slice('/fhir/'.length);
	const query = criteriaOf(request.query);
	// Full URLs, conditions and references may name resources by the address of this service.
	const isNamed = path === '' || query !== '' || headers['if-none-exist'] !== undefined || namesHost(request);
	if (isNamed) headers[baseHeader] = baseOf(request);
	const url = query === '' ? path : `${path}?${query}`;
	return {
		id: newId(receivedAtMs),
		kind: 'fhir',
		siteId: grant.siteId,
		clientId: nilId,
		surface: 'fhir',
		source: grant.keyId,
		receivedAtMs,
		settings: grant.settings,
		scopes: grant.scopes,
		...(definitions === undefined ? {} : { definitions }),
		...(request.trace && { trace: request.trace }),
		bytes: encodeRequest({ method: request.method, url, headers, body: request.body }),
	};
}

/** Keeps the parameters that select resources and drops those that only shape the answer. */
export function criteriaOf(query: string): string {
	return query
		.split('&')
		.filter((part) => !/^_(?:format|pretty)(?:=|$)/.test(part))
		.join('&');
}

function count({ metrics }: FhirContext, { siteSlug }: KeyGrant, request: HttpRequest, { outcome, failure }: Reply): void {
	metrics.fhirWrites.inc({ type: request.params['type'] ?? 'Bundle', outcome });
	metrics.siteMessages.inc({ site: siteSlug, outcome });
	if (failure !== undefined) metrics.fhirRefusals.inc({ code: failure.code });
}

async function answerOf(
	request: HttpRequest,
	{ answer }: Reply<FhirAnswer>,
	mediaType: string,
	readRoutes: readonly Route[],
	bytesMax: number,
): Promise<HttpAnswer> {
	const headers: Record<string, string> = { 'Content-Type': mediaType };
	if (answer.kind === 'bundle') return { status: 200, headers, body: await bundleAnswer(request, answer, readRoutes, bytesMax) };
	const { status, body, resource } = answer;
	if (status === 204) delete headers['Content-Type'];
	if (resource) {
		headers['ETag'] = `W/"${resource.version}"`;
		headers['Last-Modified'] = new Date(resource.lastUpdated).toUTCString();
		const location = `${baseOf(request)}/${resource.type}/${resource.id}/_history/${resource.version}`;
		if (request.method !== 'DELETE') headers[status === 201 ? 'Location' : 'Content-Location'] = location;
	}
	return { status, headers, body };
}
