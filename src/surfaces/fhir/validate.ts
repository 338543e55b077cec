import { Failure } from '#core/failure.ts';
import { type Json, parseExact } from '#core/json.ts';
import { asObjects } from '#fhir/elements.ts';
import type { ResourceDefinition } from '#fhir/resource.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { renderStored } from '#fhir/stored.ts';
import { permits, requireScope, type Scopes } from '#record/scopes.ts';
import { authorize } from '../http/authorize.ts';
import type { HttpAnswer, HttpRequest, Route } from '../http/message.ts';
import type { FhirContext } from './context.ts';
import { answerType } from './negotiation.ts';
import { refuseDeleted } from './read.ts';
import { withReferences } from './validate-references.ts';
import { carryOut, checkContentType } from './write.ts';

const patterns: readonly Pick<Route, 'method' | 'pattern'>[] = [
	{ method: 'POST', pattern: '/fhir/:type/$validate' },
	{ method: 'POST', pattern: '/fhir/:type/:id/$validate' },
	{ method: 'GET', pattern: '/fhir/:type/:id/$validate' },
];

/** Serves `$validate` (https://hl7.org/fhir/R4/resource-operation-validate.html). The site's worker validates, as it does before a write. */
export function validationRoutes(context: FhirContext): Route[] {
	return patterns.map(({ method, pattern }) => ({ method, pattern, handle: (request: HttpRequest) => validate(context, request) }));
}

async function validate(context: FhirContext, request: HttpRequest): Promise<HttpAnswer> {
	const grant = await authorize(context, request);
	const mediaType = answerType(request);
	const definition = definitionOf(request.params['type'] ?? '');
	if (definition === undefined) throw new Failure('unsupported-resource-type', 'this resource type is not served');
	const { id } = request.params;
	refuseStranger(grant.scopes, definition.type);
	// A body that is empty, or a Parameters without a resource, is about the resource that is stored.
	if (request.body.length > 0) checkContentType(request);
	const parameters = id === undefined ? undefined : parametersWithoutResource(request);
	const isStored = id !== undefined && parameters !== undefined;
	if (isStored) requireScope(grant.scopes, definition.type, 'r');
	const body = !isStored ? request.body : withResource(parameters, await storedText(context, grant.siteId, definition, id));
	const whole: HttpRequest = { ...request, method: 'POST', body };
	const answer = await carryOut(context, whole, { grant, mediaType, readRoutes: [] });
	return withReferences({ context, grant }, whole, answer);
}

/** Nothing is stored. It is for those who may do something with the type. */
function refuseStranger(scopes: Scopes | undefined, type: string): void {
	if (!(['c', 'u', 'r'] as const).some((permission) => permits(scopes, type, permission))) requireScope(scopes, type, 'c');
}

/** The parameters beside a resource are a mode and some profiles, so that a larger body has a resource. It bounds what is parsed here. */
const parametersBytesMax = 16 * 1024;

/** Returns the parameters of a request that has no resource; undefined where it has one, or where the worker has to say what is wrong. */
function parametersWithoutResource({ body }: HttpRequest): Json[] | undefined {
	if (body.length === 0) return [];
	if (body.length > parametersBytesMax) return undefined;
	let given: ReturnType<typeof parseExact>;
	try {
		given = parseExact(Buffer.from(body).toString('utf8'));
	} catch {
		return undefined;
	}
	if (given === null || given['resourceType'] !== 'Parameters') return undefined;
	const parameters = asObjects(given['parameter']);
	return parameters.some(({ name }) => name === 'resource') ? undefined : parameters;
}

function withResource(parameters: readonly Json[], resource: string): Uint8Array {
	const texts = [...parameters.map((parameter) => JSON.stringify(parameter)), `{"name":"resource","resource":${resource}}`];
	return Buffer.from(`{"resourceType":"Parameters","parameter":[${texts.join(',')}]}`);
}

async function storedText(context: FhirContext, siteId: string, { type, table }: ResourceDefinition, id: string): Promise<string> {
	const row = await context.reads.read(siteId, table.table, id);
	if (row === undefined) throw new Failure('not-found', `there is no ${type} with this id`);
	refuseDeleted(type, row);
	return renderStored(type, row);
}
