import { type AccessContext, type Accessing, recorded } from '../http/accesses.ts';
import type { Route } from '../http/message.ts';

/** These tell of no site's data, or record it themselves. */
const others = /^\/fhir\/(?:metadata|\.well-known|Patient\/\$match)/;

/** Says what a route of the FHIR surface does (FHIR R4 §3.1.0, restful-interaction). */
function accessingOf({ method, pattern }: Pick<Route, 'method' | 'pattern'>): Accessing {
	const read = (action: string): Accessing => ({ action: `fhir.${action}`, isRead: true });
	if (pattern.includes('$')) return read('operation');
	if (pattern.endsWith('/_search')) return read('search');
	if (method === 'GET') {
		if (pattern.endsWith('/_history')) return read('history');
		if (pattern.includes('/_history/')) return read('vread');
		return read(/^\/fhir\/[^/]+\/:id$/.test(pattern) ? 'read' : 'search');
	}
	const writes = { POST: pattern === '/fhir' ? 'transaction' : 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
	return { action: `fhir.${writes[method]}`, isRead: false };
}

/** Has every interaction stand in the audit trail. */
export function recordedRoutes(context: AccessContext, routes: readonly Route[]): Route[] {
	return routes.map((route) => (others.test(route.pattern) ? route : recorded(context, route, accessingOf(route))));
}
