import { Failure } from '#core/failure.ts';
import { capabilityStatement } from '#fhir/capability-statement.ts';
import { operationOutcome } from '#fhir/operation-outcome.ts';
import type { Interaction } from '#fhir/resource.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import type { HttpAnswer, HttpRequest, Route } from '../http/message.ts';
import { authenticate } from './authenticate.ts';
import { baseOf } from './base.ts';
import type { FhirContext, Interacting } from './context.ts';
import { answerType, failureType } from './negotiation.ts';
import { read } from './read.ts';
import { searchType } from './search-type.ts';
import { writeRoutes } from './write.ts';

const interactions: Readonly<
	Partial<Record<Interaction, Pick<Route, 'method' | 'pattern'> & { carryOut(on: Interacting): Promise<HttpAnswer> }>>
> = {
	'search-type': { method: 'GET', pattern: '/fhir/:type', carryOut: searchType },
	read: { method: 'GET', pattern: '/fhir/:type/:id', carryOut: read },
};

/** The interactions of the FHIR surface (FHIR R4 §3.1.0), each a route. */
export function fhirRoutes(context: FhirContext): Route[] {
	const routes = Object.entries(interactions).map(([name, { method, pattern, carryOut }]) => ({
		method,
		pattern,
		handle: (request: HttpRequest) => carryOut(prepare(context, request, name as Interaction)),
	}));
	const metadataRoute: Route = { method: 'GET', pattern: '/fhir/metadata', handle: (request) => metadata(context, request) };
	const reads = [metadataRoute, ...routes];
	return [...reads, ...writeRoutes(context, reads)];
}

/** Every failure, the transport's own included, is an OperationOutcome. */
export function renderFhirFailure(failure: Failure, request: Pick<HttpRequest, 'header'>): HttpAnswer {
	const headers: Record<string, string> = { 'Content-Type': failureType(request) };
	if (failure.code === 'unauthenticated') headers['WWW-Authenticate'] = 'X-API-Key';
	if (failure.allow !== undefined) headers['Allow'] = failure.allow;
	return { status: 500, headers, body: operationOutcome(failure) };
}

/** Who is calling is settled first: nothing else is told to a caller without a key. */
function prepare(context: FhirContext, request: HttpRequest, interaction: Interaction): Interacting {
	const grant = authenticate(context, request);
	const mediaType = answerType(request);
	const definition = definitionOf(request.params['type'] ?? '');
	if (!definition?.interactions.includes(interaction)) {
		throw new Failure('unsupported-resource-type', 'this resource type is not served');
	}
	return { context, request, grant, definition, mediaType, base: baseOf(request) };
}

/** Changes with the statement's content. */
const capabilityDate = '2026-11-21';

/** https://hl7.org/fhir/R4/http.html#capabilities */
function metadata(context: FhirContext, request: HttpRequest): HttpAnswer {
	if (!context.publicMetadata) authenticate(context, request);
	const headers = { 'Content-Type': answerType(request) };
	return { status: 200, headers, body: capabilityStatement({ version: context.version, base: baseOf(request), date: capabilityDate }) };
}
