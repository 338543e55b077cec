type Headers = Readonly<Record<string, string>>;

/** The headers by which callers say who they are. */
const credentials = 'X-API-Key, Authorization';

/**
 * Adds what keeps an answer out of caches. Shared caches know by themselves only that an answer to Authorization is private (RFC 9111
 * §3.5), and the key is in X-API-Key. Vary protects callers from a cache that stores the answer in spite of `no-store`.
 */
export function keptFromCaches(headers: Headers = {}): Headers {
	const vary = headers['Vary'];
	return { ...headers, 'Cache-Control': 'no-store', Vary: vary === undefined ? credentials : `${vary}, ${credentials}` };
}
