import type { JsonObject } from '#core/json.ts';
import { expand, lookUp, type TermParameters, validateInCodeSystem, validateInValueSet } from '#fhir/terminology/answers.ts';
import { parametersInBody, parametersInQuery } from '#fhir/terminology/parameters.ts';
import type { Terminology } from '#fhir/terminology/value-sets.ts';
import { authorize } from '../http/authorize.ts';
import type { HttpAnswer, HttpRequest, Route } from '../http/message.ts';
import type { FhirContext } from './context.ts';
import { answerType } from './negotiation.ts';
import { operationBody } from './operation-parameters.ts';

type Answer = (terminology: Terminology, parameters: TermParameters, at: string) => JsonObject;

const operations: readonly { path: string; answer: Answer }[] = [
	{ path: '/fhir/ValueSet/$expand', answer: expand },
	{ path: '/fhir/ValueSet/$validate-code', answer: validateInValueSet },
	{ path: '/fhir/CodeSystem/$lookup', answer: lookUp },
	{ path: '/fhir/CodeSystem/$validate-code', answer: validateInCodeSystem },
];

/** Serves terminology over the value sets and code systems that ship with the product, and those that the caller's site has loaded. */
export function terminologyRoutes(context: FhirContext): Route[] {
	return operations.flatMap(({ path, answer }) =>
		(['GET', 'POST'] as const).map(
			(method): Route => ({ method, pattern: path, keyScope: 'read', handle: (request) => carryOut(context, request, answer) }),
		),
	);
}

async function carryOut(context: FhirContext, request: HttpRequest, answer: Answer): Promise<HttpAnswer> {
	const grant = await authorize(context, request);
	const mediaType = answerType(request);
	const parameters = parametersOf(request, context);
	const { terminology } = await context.libraries.of(grant.siteId);
	const resource = answer(terminology, parameters, new Date(context.clock.nowMs()).toISOString());
	return { status: 200, headers: { 'Content-Type': mediaType }, body: JSON.stringify(resource) };
}

function parametersOf(request: HttpRequest, { limits }: Pick<FhirContext, 'limits'>): TermParameters {
	const inQuery = parametersInQuery(request.query);
	if (request.method === 'GET' || request.body.length === 0) return inQuery;
	return new Map([...inQuery, ...parametersInBody(operationBody(request, limits))]);
}
