import type { KeyGrant } from '#access/directory.ts';
import type { TokenGrant, Tokens } from '#access/tokens/tokens.ts';
import { Failure } from '#core/failure.ts';
import { type AuthenticationContext, authenticate, keyChallenge, letIn, retryAfterSeconds } from './authenticate.ts';
import type { HttpRequest } from './message.ts';

export interface AuthorizationContext extends AuthenticationContext {
	tokens: Pick<Tokens, 'areTaken' | 'grantOf'>;
}

const diagnostics = 'a valid API key is required in the header X-API-Key, or an access token in the header Authorization';
const challenge = `${keyChallenge}, Bearer`;

/**
 * Identifies a caller by an API key or, where a site takes them, by an access token (RFC 6750 §2.1).
 * @throws Failure `unauthenticated`, the same for every reason; `invalid` when both are given; `unavailable` while they cannot be checked
 */
export function authorize(
	context: AuthorizationContext,
	request: Pick<HttpRequest, 'header' | 'caller' | 'keyScope'>,
): KeyGrant | Promise<KeyGrant> {
	if (!context.tokens.areTaken) return authenticate(context, request);
	const authorization = request.header('authorization');
	if (authorization === undefined) return authenticate(context, request, { diagnostics, challenge });
	refuseKeyBeside(request);
	const token = bearerOf(authorization);
	const grant = token === undefined ? undefined : context.tokens.grantOf(token);
	return grant instanceof Promise ? grant.then((found) => granted(context, request, found)) : granted(context, request, grant);
}

/** Returns the token that the header Authorization has (RFC 6750 §2.1). */
export function bearerOf(authorization: string): string | undefined {
	return /^bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/** @throws Failure `invalid` when a request with the header Authorization has an API key, too */
export function refuseKeyBeside(request: Pick<HttpRequest, 'header'>): void {
	if (request.header('x-api-key') !== undefined)
		throw new Failure('invalid', 'a request has either the header X-API-Key or the header Authorization');
}

function granted({ metrics }: AuthorizationContext, request: Pick<HttpRequest, 'caller'>, grant: TokenGrant): KeyGrant {
	if (grant === 'unavailable') throw new Failure('unavailable', 'access tokens cannot be checked at the moment', { retryAfterSeconds });
	if (grant) return letIn(request, grant);
	metrics.accessRefusals.inc({ protocol: 'http', reason: 'token' });
	throw new Failure('unauthenticated', diagnostics, { challenge: `${challenge} error="invalid_token"` });
}

/** The challenge of an answer 401 or 403 (RFC 6750 §3). Every wrong token gets the same one. A caller without a token is told the ways in. */
export function challengeOf({ code, challenge: waysIn = keyChallenge, scope }: Failure): Record<string, string> {
	if (code === 'unauthenticated') return { 'WWW-Authenticate': waysIn };
	// A key that lacks a scope has no challenge to answer.
	return code === 'insufficient-scope' && scope !== undefined
		? { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` }
		: {};
}
