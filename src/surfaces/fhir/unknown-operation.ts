import { Failure } from '#core/failure.ts';
import { type AuthorizationContext, authorize } from '../http/authorize.ts';
import type { HttpRequest, Route } from '../http/message.ts';

const places = ['/fhir', '/fhir/:type', '/fhir/:type/:id'];

/**
 * Answers for operations that do not exist, where a route of a resource would otherwise take the name for a type or an id. `routes` are all
 * others of the surface.
 */
export function unknownOperations(context: AuthorizationContext, routes: readonly Pick<Route, 'method' | 'pattern'>[]): Route[] {
	return places.flatMap((place) =>
		(['GET', 'POST'] as const).map((method): Route => {
			const refuse = async (request: Pick<HttpRequest, 'header' | 'caller' | 'keyScope' | 'params'>) => {
				await authorize(context, request);
				throw refusal(request.params, place, routes);
			};
			return { method, pattern: `${place}/:$operation`, handle: refuse };
		}),
	);
}

function refusal(
	{ operation: name = '', type = '' }: Readonly<Record<string, string>>,
	place: string,
	routes: readonly Pick<Route, 'method' | 'pattern'>[],
): Failure {
	const methods = routes
		.filter(({ pattern }) => pattern.endsWith(`/${name}`) && isAt(pattern, place) && isOf(pattern, type))
		.map(({ method }) => method);
	if (methods.length > 0) {
		const allow = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
		return new Failure('method-not-allowed', 'the operation is not supported with this method', { allow: allow.sort().join(', ') });
	}
	const of = { '/fhir': 'the system', '/fhir/:type': 'a resource type' }[place] ?? 'a resource';
	return new Failure('unsupported-resource-type', `there is no operation of this name for ${of}`);
}

function isAt(pattern: string, place: string): boolean {
	return pattern.split('/').length === place.split('/').length + 1;
}

/** An operation of one type is none of another. */
function isOf(pattern: string, type: string): boolean {
	const [, , named = ''] = pattern.split('/');
	return type === '' || named.startsWith(':') || named === type;
}
