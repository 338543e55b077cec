import type { AnyRoute, Route } from './message.ts';

interface Compiled<R extends AnyRoute = AnyRoute> {
	route: R;
	segments: readonly string[];
}

export type RouteMatch<R extends AnyRoute = AnyRoute> =
	| { kind: 'route'; route: R; params: Record<string, string> }
	| { kind: 'method'; allow: string }
	| { kind: 'path' };

/**
 * Finds the route of a path: by the number of segments first, then segment by segment. Literal segments win over parameters, and
 * `:$name`, which takes only a segment that begins with `$`, over other parameters.
 */
export class Router<R extends AnyRoute = Route> {
	readonly #byLength = new Map<number, Compiled<R>[]>();

	constructor(routes: readonly R[]) {
		for (const route of routes) {
			const segments = route.pattern.split('/');
			const compiled = this.#byLength.get(segments.length) ?? [];
			compiled.push({ route, segments });
			compiled.sort((left, right) => openness(left) - openness(right));
			this.#byLength.set(segments.length, compiled);
		}
	}

	/** The route of GET also answers HEAD. */
	match(method: string, path: string): RouteMatch<R> {
		const segments = path.split('/');
		const wanted = method === 'HEAD' ? 'GET' : method;
		const fitting = (this.#byLength.get(segments.length) ?? []).filter((compiled) => fits(compiled.segments, segments));
		if (fitting.length === 0) return { kind: 'path' };
		const found = fitting.find(({ route }) => route.method === wanted);
		if (found === undefined) return { kind: 'method', allow: allowed(fitting) };
		const params = paramsOf(found.segments, segments);
		return params === undefined ? { kind: 'path' } : { kind: 'route', route: found.route, params };
	}
}

function openness({ segments }: Compiled): number {
	return segments.reduce((sum, part) => sum + (part.startsWith(':$') ? 1 : part.startsWith(':') ? 2 : 0), 0);
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
	return pattern.every((part, index) => {
		if (part.startsWith(':$')) return segments[index]?.startsWith('$') === true;
		return part.startsWith(':') ? segments[index] !== '' : part === segments[index];
	});
}

function allowed(fitting: readonly Compiled[]): string {
	const methods = new Set<string>(fitting.map(({ route }) => route.method));
	if (methods.has('GET')) methods.add('HEAD');
	return [...methods].sort().join(', ');
}

function paramsOf(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
	const params: Record<string, string> = {};
	for (const [index, part] of pattern.entries()) {
		if (!part.startsWith(':')) continue;
		try {
			params[part.replace(/^:\$?/, '')] = decodeURIComponent(segments[index] ?? '');
		} catch {
			// A path with invalid percent-encoding matches nothing.
			return undefined;
		}
	}
	return params;
}
