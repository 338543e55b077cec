import type { HttpAnswer, HttpRequest } from './message.ts';

type Headers = Readonly<Record<string, string>>;

/** The origins whose pages may read answers. `*` among them stands for all. */
export type AllowedOrigins = ReadonlySet<string>;

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** What pages may send beyond the headers that every page may. */
const requestHeaders = [
	...['Accept', 'Authorization', 'Cache-Control', 'Content-Type', 'If-Match', 'If-Modified-Since', 'If-None-Exist', 'If-None-Match'],
	...['Prefer', 'X-API-Key', 'X-Request-Id'],
].join(', ');
/** What pages may read beyond the headers that every page may. */
const answerHeaders = [
	...['Allow', 'Content-Disposition', 'Content-Location', 'ETag', 'Expires', 'Last-Modified', 'Location', 'Retry-After', 'Warning'],
	...['WWW-Authenticate', 'X-Progress', 'X-Request-Id', 'X-Security-Context'],
].join(', ');
/** A browser asks again after this time, because the origins of a site may have changed. */
const preflightSeconds = '60';

/**
 * Lets pages of other origins read answers (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol). Each site says which. A key is a header
 * that a page has to know, no cookie: answers never allow credentials, so no page acts with a key that it was not given.
 */
export class CrossOrigin {
	readonly #allowed: () => AllowedOrigins;

	/** @param allowed returns the origins of all sites together, as they are in force now */
	constructor(allowed: () => AllowedOrigins) {
		this.#allowed = allowed;
	}

	/**
	 * Answers the question of a browser whether a page may send a request; undefined when this is none, or the page may not. Such a question
	 * carries no key, so the origins of all sites count, and the answer does not tell of which.
	 */
	preflight({ method, header }: Pick<HttpRequest, 'method' | 'header'>): HttpAnswer | undefined {
		const origin = header('origin');
		if (method !== 'OPTIONS' || origin === undefined || header('access-control-request-method') === undefined) return undefined;
		if (!allows(this.#allowed(), origin)) return undefined;
		const headers = {
			'Access-Control-Allow-Methods': methods,
			'Access-Control-Allow-Headers': requestHeaders,
			'Access-Control-Max-Age': preflightSeconds,
		};
		return { status: 204, headers };
	}

	/**
	 * Returns the headers of an answer. Once the key is known, only the origins of its site count; a refused caller has no site, and a page
	 * may read why it was refused.
	 */
	headersFor({ caller, header }: Pick<HttpRequest, 'caller' | 'header'>): Headers | undefined {
		const allowed = this.#allowed();
		if (allowed.size === 0) return undefined;
		const origin = header('origin');
		const ofSite = caller.origins === undefined ? allowed : new Set(caller.origins);
		if (origin === undefined || !allows(ofSite, origin)) return varyByOrigin;
		return { ...varyByOrigin, 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': answerHeaders };
	}
}

const varyByOrigin: Headers = { Vary: 'Origin' };

function allows(allowed: AllowedOrigins, origin: string): boolean {
	return allowed.has(origin) || allowed.has('*');
}
