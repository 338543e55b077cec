import { isCsrfToken, type Session } from '#access/sessions.ts';
import { Failure } from '#core/failure.ts';
import { troubleOf } from '#storage/sqlstate.ts';
import type { HttpAnswer, HttpRequest, Route, StreamedRequest, StreamingRoute } from '../http/message.ts';
import type { AdminContext } from './context.ts';

const cookieName = 'tributary_session';
/** Ties a sign-in by the provider to the browser that began it. */
const attemptCookieName = 'tributary_attempt';
/** The time in which somebody signs in at the provider. */
const attemptSeconds = 600;
const browserCookieName = 'tributary_browser';
/** The cookie only tells that the browser is known. It signs nobody in, so it may stay long. */
const browserCookieSeconds = 180 * 86_400;

/** Returns the cookie of a session. Without a token it returns the cookie that removes it. */
export function sessionCookie(request: Pick<HttpRequest, 'secure'>, token?: string): string {
	const lifetime = token === undefined ? '; Max-Age=0' : '';
	return `${cookieName}=${token ?? ''}; Path=/${guarded(request)}${lifetime}`;
}

/** Returns the cookie by which the browser is recognised at sign-in. It outlives the session and grants no access. */
export function browserCookie(request: Pick<HttpRequest, 'secure'>, path: string, browser: string): string {
	return `${browserCookieName}=${browser}; Path=${path}${guarded(request)}; Max-Age=${browserCookieSeconds}`;
}

/**
 * Returns the cookie of a sign-in by the provider, or the one that removes it. The provider sends the browser back from another origin, where
 * a stricter cookie would stay behind.
 */
export function attemptCookie(request: Pick<HttpRequest, 'secure'>, path: string, attempt?: string): string {
	const lifetime = attempt === undefined ? 0 : attemptSeconds;
	return `${attemptCookieName}=${attempt ?? ''}; Path=${path}${guarded(request, 'Lax')}; Max-Age=${lifetime}`;
}

export function attemptOfBrowser(request: Pick<HttpRequest, 'header'>): string | undefined {
	return cookieOf(request, attemptCookieName);
}

function guarded({ secure }: Pick<HttpRequest, 'secure'>, sameSite: 'Strict' | 'Lax' = 'Strict'): string {
	return `; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`;
}

export function sessionToken(request: Pick<HttpRequest, 'header'>): string | undefined {
	return cookieOf(request, cookieName);
}

export function knownBrowser(request: Pick<HttpRequest, 'header'>): string | undefined {
	return cookieOf(request, browserCookieName);
}

function cookieOf(request: Pick<HttpRequest, 'header'>, name: string): string | undefined {
	const cookies = request.header('cookie')?.split(';') ?? [];
	const given = cookies.map((cookie) => cookie.trim()).find((cookie) => cookie.startsWith(`${name}=`));
	return given?.slice(name.length + 1);
}

/** Returns the origin as the browser reached it. A page of another origin cannot choose the Host header of its requests. */
function reachedAt({ secure, header }: Pick<HttpRequest, 'header' | 'secure'>): string {
	return `${secure ? 'https' : 'http'}://${header('host') ?? 'localhost'}`;
}

/**
 * Browsers state which origin sends a request. Pages of other origins get no answer, even those on the same host.
 * @throws Failure `sender-not-authorized`
 */
function refuseForeignPages(request: Pick<HttpRequest, 'header' | 'secure'>): void {
	const origin = request.header('origin');
	const site = request.header('sec-fetch-site');
	const isForeign = (origin !== undefined && origin !== reachedAt(request)) || site === 'cross-site' || site === 'same-site';
	if (isForeign) throw new Failure('sender-not-authorized', 'the request comes from a page of another origin');
}

/** @throws Failure `unauthenticated` without a valid session */
export async function sessionOf({ sessions }: AdminContext, request: Pick<HttpRequest, 'header'>): Promise<Session> {
	const token = sessionToken(request);
	const session = token === undefined ? undefined : await sessions.find(token);
	if (session === undefined) throw new Failure('unauthenticated', 'you are not signed in');
	return session;
}

type Pattern = Pick<Route, 'method' | 'pattern'>;

type Handler = (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;

/** Returns a route that refuses pages of other origins. */
export function ofOwnPages(pattern: Pattern, handle: Handler): Route {
	return browserRoute(pattern, (request) => {
		refuseForeignPages(request);
		return handle(request);
	});
}

/** Returns a route that answers 503 while the database is away. */
export function browserRoute({ method, pattern }: Pattern, handle: Handler): Route {
	return {
		method,
		pattern,
		handle: async (request) => {
			try {
				return await handle(request);
			} catch (error) {
				const isTold = error instanceof Failure && error.retryAfterSeconds !== undefined;
				const isAway = !isTold && ['connection', 'repeat'].includes(troubleOf(error));
				throw isAway ? new Failure('unavailable', 'the database does not answer', { cause: error, retryAfterSeconds: 5 }) : error;
			}
		},
	};
}

/** Returns a route for signed-in users. It looks up the session on each request, and a change must carry the token of its session. */
export function signedIn(
	context: AdminContext,
	{ method, pattern }: Pattern,
	handle: (session: Session, request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>,
	{ despitePassword = false, despiteSecondFactor = false } = {},
): Route {
	return ofOwnPages({ method, pattern }, async (request) => {
		const session = await sessionFor(context, request, method);
		refuseUnfinished(session, { despitePassword, despiteSecondFactor });
		return handle(session, request);
	});
}

/** @throws Failure without a valid session, or for a change without its token */
async function sessionFor(context: AdminContext, request: Pick<HttpRequest, 'header'>, method: Route['method']): Promise<Session> {
	const session = await sessionOf(context, request);
	if (method !== 'GET' && !isCsrfToken(session, request.header('x-csrf-token')))
		throw new Failure('sender-not-authorized', 'the header X-CSRF-Token is missing or belongs to another session');
	return session;
}

function refuseUnfinished(session: Session, { despitePassword = false, despiteSecondFactor = false } = {}): void {
	if (session.mustChangePassword && !despitePassword) throw new Failure('sender-not-authorized', 'you have to change your password first');
	if (session.mustSetSecondFactor && !despitePassword && !despiteSecondFactor)
		throw new Failure('sender-not-authorized', 'you have to set up a second factor first');
}

/** Does the same as `signedIn` for a change whose body is read while it arrives. */
export function signedInStreaming(
	context: AdminContext,
	{ pattern, bytesMax }: Pick<StreamingRoute, 'pattern' | 'bytesMax'>,
	handle: (session: Session, request: StreamedRequest) => Promise<HttpAnswer>,
): StreamingRoute {
	return {
		method: 'POST',
		pattern,
		streams: true,
		bytesMax,
		handle: async (request) => {
			refuseForeignPages(request);
			const session = await sessionFor(context, request, 'POST');
			refuseUnfinished(session);
			return handle(session, request);
		},
	};
}
