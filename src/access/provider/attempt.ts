import { createHmac, randomBytes } from 'node:crypto';

/** These members tie the answer of the provider to the browser that asked (OpenID Connect Core 1.0 §3.1.2.1, RFC 7636). */
export interface Attempt {
	state: string;
	nonce: string;
	verifier: string;
	/** The page of the console to which the browser returns. */
	path: string;
}

/**
 * A browser keeps the seed of its attempt in a cookie, so that attempts cost the service nothing and any process of any node can finish one.
 * State and nonce do not tell the seed, nor the verifier.
 */
export function newAttempt(path: string): { cookie: string; attempt: Attempt } {
	const seed = randomBytes(32).toString('base64url');
	const kept = ownPath(path);
	return { cookie: `${seed}.${Buffer.from(kept).toString('base64url')}`, attempt: derived(seed, kept) };
}

export function attemptOf(cookie: string | undefined): Attempt | undefined {
	const [, seed, path = ''] = /^([\w-]{43})\.([\w-]{0,2000})$/.exec(cookie ?? '') ?? [];
	return seed === undefined ? undefined : derived(seed, ownPath(Buffer.from(path, 'base64url').toString('utf8')));
}

function derived(seed: string, path: string): Attempt {
	const of = (name: string) => createHmac('sha256', seed).update(name).digest('base64url');
	return { state: of('state'), nonce: of('nonce'), verifier: of('verifier'), path };
}

/** A path that a browser reads as one of this origin. Everything else, such as `//host` or `/\host`, becomes the first page. */
function ownPath(path: string): string {
	return /^\/(?!\/|api(?:\/|$))[\w\-./~%?=&:,+@]{0,1000}$/.test(path) ? path : '/';
}
