type Headers = Readonly<Record<string, string>>;

/** The headers by which callers say who they are. */
const credentials = 'X-API-Key, Authorization';

/** What decides about the headers of an answer beside the answer itself. */
export interface Surroundings {
	/** Headers of every answer of the surface that does not set them itself. */
	standing: Headers | undefined;
	/** True when the answer depends on who asks. */
	isKeyed: boolean;
	/** What a page of another origin needs to read the answer. */
	crossOrigin: Headers | undefined;
}

/**
 * Returns all headers of an answer. One that depends on a key is kept out of caches: shared caches know by themselves only that an answer to
 * Authorization is private (RFC 9111 §3.5), and the key is in X-API-Key. Vary protects callers from a cache that stores the answer in spite
 * of `no-store`. No browser takes what a sender stored for a page or a script.
 */
export function answerHeaders(own: Headers = {}, { standing, isKeyed, crossOrigin }: Surroundings): Headers {
	if (standing === undefined && !isKeyed && crossOrigin === undefined) return own;
	const headers: Record<string, string> = { ...standing, ...own, ...crossOrigin };
	if (isKeyed) {
		headers['Cache-Control'] = 'no-store';
		headers['X-Content-Type-Options'] = 'nosniff';
	}
	const vary = [own['Vary'], isKeyed ? credentials : undefined, crossOrigin?.['Vary']].filter((names) => names !== undefined);
	if (vary.length > 0) headers['Vary'] = vary.join(', ');
	return headers;
}
