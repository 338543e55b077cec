import { Failure } from '#core/failure.ts';
import { operationOutcome } from '#fhir/operation-outcome.ts';
import type { Interaction } from '#fhir/resource.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { permissionOf } from '#fhir/scopes.ts';
import { requireScope, requireSome } from '#record/scopes.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { authorize, challengeOf } from '../http/authorize.ts';
import type { HttpAnswer, HttpRequest, Route } from '../http/message.ts';
import { baseOf } from './base.ts';
import { binary } from './binary.ts';
import type { FhirContext, Interacting } from './context.ts';
import { docref } from './docref.ts';
import { everything } from './everything.ts';
import { historyOfInstance, historyOfSystem, historyOfType } from './history.ts';
import { lastn } from './lastn.ts';
import { match } from './match.ts';
import { metadata } from './metadata.ts';
import { answerType, failureType } from './negotiation.ts';
import { read, vread } from './read.ts';
import { searchSystem } from './search-system.ts';
import { searchByForm, searchCompartment, searchCompartmentByForm, searchType } from './search-type.ts';
import { smartConfiguration } from './smart-configuration.ts';
import { systemRoute } from './system.ts';
import { terminologyRoutes } from './terminology.ts';
import { unknownOperations } from './unknown-operation.ts';
import { validationRoutes } from './validate.ts';
import { writeRoutes } from './write.ts';

interface ReadRoute extends Pick<Route, 'method' | 'pattern'> {
	/** The resource type, where the pattern names it. */
	type?: ResourceType;
	/** The interaction that the definition of the resource type must allow. */
	interaction: Interaction;
	/** True where it answers nothing beyond the limits of scopes that permit a part of a type. */
	limits?: true | undefined;
	carryOut(on: Interacting): Promise<HttpAnswer>;
}

const reads: readonly ReadRoute[] = [
	{ method: 'GET', pattern: '/fhir/:type', interaction: 'search-type', limits: true, carryOut: searchType },
	{ method: 'POST', pattern: '/fhir/:type/_search', interaction: 'search-type', limits: true, carryOut: searchByForm },
	{ method: 'GET', pattern: '/fhir/:type/_history', interaction: 'history-type', carryOut: historyOfType },
	{ method: 'GET', pattern: '/fhir/:type/:id', interaction: 'read', limits: true, carryOut: read },
	{ method: 'GET', pattern: '/fhir/:type/:id/_history', interaction: 'history-instance', carryOut: historyOfInstance },
	{ method: 'GET', pattern: '/fhir/:type/:id/_history/:version', interaction: 'vread', carryOut: vread },
	{ method: 'GET', pattern: '/fhir/:type/:id/$everything', interaction: 'read', limits: true, carryOut: everything },
	{ method: 'POST', pattern: '/fhir/:type/:id/$everything', interaction: 'read', limits: true, carryOut: everything },
	...operation('Observation', '$lastn', 'search-type', lastn),
	{ method: 'POST', pattern: '/fhir/Patient/$match', type: 'Patient', interaction: 'search-type', carryOut: match },
	...operation('DocumentReference', '$docref', 'search-type', docref),
	{ method: 'GET', pattern: '/fhir/:compartment/:id/:type', interaction: 'search-type', limits: true, carryOut: searchCompartment },
	{
		method: 'POST',
		pattern: '/fhir/:compartment/:id/:type/_search',
		interaction: 'search-type',
		limits: true,
		carryOut: searchCompartmentByForm,
	},
];

/** An operation on one resource type, by GET and POST, that finds what a search finds. */
function operation(type: ResourceType, name: string, interaction: Interaction, carryOut: ReadRoute['carryOut']): ReadRoute[] {
	return (['GET', 'POST'] as const).map((method) => ({
		method,
		pattern: `/fhir/${type}/${name}`,
		type,
		interaction,
		limits: true,
		carryOut,
	}));
}

/** The interactions of the FHIR surface (FHIR R4 §3.1.0), each a route. */
export function fhirRoutes(context: FhirContext): Route[] {
	const metadataRoute: Route = {
		method: 'GET',
		pattern: '/fhir/metadata',
		isOpen: true,
		handle: (request) => metadata(context, request),
	};
	const readRoutes = reads.map(
		({ method, pattern, type, interaction, limits, carryOut }): Route => ({
			method,
			pattern,
			keyScope: 'read',
			handle: async (request) => {
				const typed = type === undefined ? request : { ...request, params: { ...request.params, type } };
				return carryOut(await prepare(context, typed, { interaction, limits }));
			},
		}),
	);
	const binaryRoutes = ['/fhir/Binary/:id', '/fhir/Binary/:id/_history/:version'].map(
		(pattern): Route => ({ method: 'GET', pattern, keyScope: 'read', handle: (request) => binary(context, request) }),
	);
	const smartRoute: Route = {
		method: 'GET',
		pattern: '/fhir/.well-known/smart-configuration',
		isOpen: true,
		handle: (request) => smartConfiguration(context, request),
	};
	const terminology = terminologyRoutes(context);
	const system = [
		systemRoute(context, 'GET', '/fhir', searchSystem),
		systemRoute(context, 'POST', '/fhir/_search', searchSystem),
		systemRoute(context, 'GET', '/fhir/_history', historyOfSystem),
	];
	const inBundles = [metadataRoute, ...terminology, ...system, ...readRoutes].map(takingSlash);
	const writing = writeRoutes(context, [...inBundles, ...unknownOperations(context, inBundles)]);
	return [
		metadataRoute,
		smartRoute,
		...terminology,
		...system,
		...readRoutes,
		// Of two routes that fit alike the first is taken: the history of the type is no Binary.
		...binaryRoutes,
		...validationRoutes(context),
		...writing,
	].map(takingSlash);
}

/** Clients add a slash to any URL of a resource or type. */
function takingSlash(route: Route): Route {
	return { ...route, mayEndInSlash: true };
}

/** Renders every failure as an OperationOutcome, including those of the transport. */
export function renderFhirFailure(failure: Failure, request: Pick<HttpRequest, 'header'>): HttpAnswer {
	const headers: Record<string, string> = { 'Content-Type': failureType(request), ...challengeOf(failure) };
	if (failure.allow !== undefined) headers['Allow'] = failure.allow;
	return { status: 500, headers, body: operationOutcome(failure) };
}

/** Authenticates the caller first: a caller without a key or token learns nothing else. */
async function prepare(
	context: FhirContext,
	request: HttpRequest,
	{ interaction, limits }: Pick<ReadRoute, 'interaction' | 'limits'>,
): Promise<Interacting> {
	const grant = await authorize(context, request);
	const mediaType = answerType(request);
	if (request.params['type'] === '*')
		throw new Failure('unsupported-resource-type', 'a compartment is searched type by type; Patient/<id>/$everything has all of a patient');
	const definition = definitionOf(request.params['type'] ?? '');
	if (definition === undefined) throw new Failure('unsupported-resource-type', 'this resource type is not served');
	if (!definition.interactions.includes(interaction)) {
		throw new Failure('unsupported-resource-type', `${definition.type} does not have the interaction ${interaction}`);
	}
	const require = limits === true ? requireSome : requireScope;
	require(grant.scopes, definition.type, permissionOf[interaction]);
	return { context, request, grant, definition, mediaType, base: baseOf(request) };
}
