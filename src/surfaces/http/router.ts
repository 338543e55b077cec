import type { AnyRoute, Route } from './message.ts';

interface Compiled<R extends AnyRoute = AnyRoute> {
	route: R;
	segments: readonly string[];
	/** What each segment takes: itself, any segment that begins with `$`, or any that is not empty. */
	takes: readonly ('itself' | '$' | 'any')[];
	/** The path has no parameters. It takes the methods of its own routes alone. */
	isLiteral: boolean;
}

export type RouteMatch<R extends AnyRoute = AnyRoute> =
	/** `path` is the one that the route takes: without a slash behind it that changes nothing. */
	{ kind: 'route'; route: R; params: Record<string, string>; path: string } | { kind: 'method'; allow: string } | { kind: 'path' };

/**
 * Finds the route of a path: by the number of segments first, then segment by segment. Literal segments win over parameters, and
 * `:$name`, which takes only a segment that begins with `$`, over other parameters. A path without parameters has no methods but its own.
 */
export class Router<R extends AnyRoute = Route> {
	readonly #byLength: ReadonlyMap<number, readonly Compiled<R>[]>;
	/** Those of which the path may end in a slash. */
	readonly #slashed: ReadonlyMap<number, readonly Compiled<R>[]>;

	constructor(routes: readonly R[]) {
		this.#byLength = compiledByLength(routes);
		this.#slashed = compiledByLength(routes.filter(({ mayEndInSlash }) => mayEndInSlash === true));
	}

	/** The route of GET also answers HEAD. */
	match(method: string, path: string): RouteMatch<R> {
		const match = this.#match(method, path, this.#byLength);
		if (match.kind !== 'path' || !path.endsWith('/')) return match;
		return this.#match(method, path.slice(0, -1), this.#slashed);
	}

	#match(method: string, path: string, byLength: ReadonlyMap<number, readonly Compiled<R>[]>): RouteMatch<R> {
		const segments = path.split('/');
		const wanted = method === 'HEAD' ? 'GET' : method;
		const known = byLength.get(segments.length) ?? [];
		// Every request comes by here, so nothing is collected for one that has its route.
		let isLiteral = false;
		for (const compiled of known) {
			const isMethod = compiled.route.method === wanted;
			if (isLiteral && !compiled.isLiteral) break;
			if ((!isMethod && !compiled.isLiteral) || !fits(compiled, segments)) continue;
			isLiteral = compiled.isLiteral;
			if (!isMethod) continue;
			const params = paramsOf(compiled, segments);
			return params === undefined ? { kind: 'path' } : { kind: 'route', route: compiled.route, params, path };
		}
		const fitting = known.filter((compiled) => compiled.isLiteral === isLiteral && fits(compiled, segments));
		return fitting.length === 0 ? { kind: 'path' } : { kind: 'method', allow: allowed(fitting) };
	}
}

function compiledByLength<R extends AnyRoute>(routes: readonly R[]): Map<number, Compiled<R>[]> {
	const byLength = new Map<number, Compiled<R>[]>();
	for (const route of routes) {
		const segments = route.pattern.split('/');
		const compiled = byLength.get(segments.length) ?? [];
		const takes = segments.map(takenBy);
		compiled.push({ route, segments, takes, isLiteral: takes.every((kind) => kind === 'itself') });
		compiled.sort((left, right) => openness(left) - openness(right));
		byLength.set(segments.length, compiled);
	}
	return byLength;
}

function takenBy(part: string): Compiled['takes'][number] {
	if (part.startsWith(':$')) return '$';
	return part.startsWith(':') ? 'any' : 'itself';
}

function openness({ segments }: Compiled): number {
	return segments.reduce((sum, part) => sum + (part.startsWith(':$') ? 1 : part.startsWith(':') ? 2 : 0), 0);
}

function fits({ segments: pattern, takes }: Compiled, segments: readonly string[]): boolean {
	// What differs between routes stands behind; the first segments are those of the surface.
	for (let index = pattern.length - 1; index >= 0; index--) {
		const segment = segments[index] ?? '';
		const kind = takes[index];
		if (kind === 'itself' ? segment !== pattern[index] : kind === 'any' ? segment === '' : !segment.startsWith('$')) return false;
	}
	return true;
}

function allowed(fitting: readonly Compiled[]): string {
	const methods = new Set<string>(fitting.map(({ route }) => route.method));
	if (methods.has('GET')) methods.add('HEAD');
	return [...methods].sort().join(', ');
}

function paramsOf({ segments: pattern, takes }: Compiled, segments: readonly string[]): Record<string, string> | undefined {
	const params: Record<string, string> = {};
	for (let index = 0; index < pattern.length; index++) {
		if (takes[index] === 'itself') continue;
		const segment = segments[index] ?? '';
		try {
			params[(pattern[index] ?? '').slice(takes[index] === '$' ? 2 : 1)] = segment.includes('%') ? decodeURIComponent(segment) : segment;
		} catch {
			// A path with invalid percent-encoding matches nothing.
			return undefined;
		}
	}
	return params;
}
