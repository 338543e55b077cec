import { isCsrfToken, type Session } from '#access/sessions.ts';
import { Failure } from '#core/failure.ts';
import { troubleOf } from '#storage/sqlstate.ts';
import type { HttpAnswer, HttpRequest, Route } from '../http/message.ts';
import type { AdminContext } from './context.ts';

const cookieName = 'tributary_session';
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

function guarded({ secure }: Pick<HttpRequest, 'secure'>): string {
	return `; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
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

/** Returns a route that refuses pages of other origins and answers 503 while the database is away. */
export function ofOwnPages({ method, pattern }: Pattern, handle: (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>): Route {
	return {
		method,
		pattern,
		handle: async (request) => {
			refuseForeignPages(request);
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
	{ despitePassword = false } = {},
): Route {
	return ofOwnPages({ method, pattern }, async (request) => {
		const session = await sessionOf(context, request);
		if (method !== 'GET' && !isCsrfToken(session, request.header('x-csrf-token')))
			throw new Failure('sender-not-authorized', 'the header X-CSRF-Token is missing or belongs to another session');
		if (session.mustChangePassword && !despitePassword)
			throw new Failure('sender-not-authorized', 'you have to change your password first');
		return handle(session, request);
	});
}
