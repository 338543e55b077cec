import type { KeyGrant } from '#access/directory.ts';
import { Failure } from '#core/failure.ts';
import type { ResourceDefinition } from '#fhir/resource.ts';
import { definitionOf, resources } from '#fhir/resources/index.ts';
import { missingScope, permits, requireScope, type Scopes, scopeName } from '#record/scopes.ts';
import { authorize } from '../http/authorize.ts';
import type { HttpAnswer, HttpRequest, Route } from '../http/message.ts';
import { baseOf } from './base.ts';
import type { FhirContext, Interacting } from './context.ts';
import { formOf } from './form.ts';
import { answerType } from './negotiation.ts';

/** The input of an interaction on the whole system. The caller and the media type are already checked. */
export interface OnSystem extends Omit<Interacting, 'definition'> {
	/** The parameters, those of a form too. */
	query: string;
}

/** An interaction on all types at once (FHIR R4 §3.1.0.9, §3.1.0.12). */
export function systemRoute(
	context: FhirContext,
	method: Route['method'],
	pattern: string,
	carryOut: (on: OnSystem) => Promise<HttpAnswer>,
): Route {
	const handle = async (request: HttpRequest): Promise<HttpAnswer> => {
		const grant: KeyGrant = await authorize(context, request);
		const mediaType = answerType(request);
		const query = [request.query, method === 'POST' ? formOf(request) : ''].filter((part) => part !== '').join('&');
		return carryOut({ context, request, grant, mediaType, base: baseOf(request), query });
	};
	return { method, pattern, keyScope: 'read', handle };
}

/**
 * Returns the types that are named, or all that the caller may search. The order is always the same, so that a position in it is found again.
 * @throws Failure for a name that is no type, and for a type that the caller may not search
 */
export function searchedTypes(scopes: Scopes | undefined, named: readonly string[]): ResourceDefinition[] {
	const unknown = named.find((type) => definitionOf(type) === undefined);
	if (unknown !== undefined)
		throw new Failure('invalid', '_type names a resource type that is not served', { location: { expression: '_type' } });
	for (const type of named) requireScope(scopes, type, 's');
	const permitted = Object.values(resources).filter(({ type }) => permits(scopes, type, 's'));
	if (permitted.length === 0) throw missingScope(scopes, scopeName('*', 's'));
	return named.length === 0 ? permitted : permitted.filter(({ type }) => named.includes(type));
}
