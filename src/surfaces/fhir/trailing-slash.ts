import type { HttpRequest, Route } from '../http/message.ts';

/** Lets a slash behind the path change nothing: each route is followed by one for the path with it. */
export function alsoWithSlash(routes: readonly Route[]): Route[] {
	const patterns = new Set(routes.map(({ method, pattern }) => `${method} ${pattern}`));
	return routes.flatMap((route) => {
		const pattern = `${route.pattern}/`;
		if (route.pattern.endsWith('/') || patterns.has(`${route.method} ${pattern}`)) return [route];
		const handle = (request: HttpRequest) => route.handle({ ...request, path: request.path.slice(0, -1) });
		return [route, { ...route, pattern, handle }];
	});
}
