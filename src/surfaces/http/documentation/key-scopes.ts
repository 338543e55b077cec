import type { AnyRoute } from '../message.ts';
import { Router } from '../router.ts';

interface Described {
	security?: Readonly<Record<string, readonly string[]>>[];
}

interface Document {
	security?: Described['security'];
	paths: Record<string, Partial<Record<string, Described>>>;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/**
 * Returns an OpenAPI document in which each operation names the scope that its route wants of an API key. OpenAPI 3.1 calls that a role of
 * the scheme. The table of routes is the only place that says so.
 */
export function withKeyScopes(document: object, routes: readonly AnyRoute[]): object {
	const { security, paths, ...others } = document as Document;
	const router = new Router(routes);
	const stated = Object.entries(paths).map(([path, item]) => {
		const operations = methods.flatMap((method) => {
			const described = item[method];
			const match = router.match(method.toUpperCase(), path.replace(/\{(\w+)\}/g, '$1'));
			const scope = match.kind === 'route' ? match.route.keyScope : undefined;
			if (described === undefined || scope === undefined) return [];
			const wanted = (described.security ?? security ?? []).map((way) => (way['key'] === undefined ? way : { ...way, key: [scope] }));
			return [[method, { ...described, security: wanted }] as const];
		});
		return [path, { ...item, ...Object.fromEntries(operations) }] as const;
	});
	return { ...others, ...(security && { security }), paths: Object.fromEntries(stated) };
}
