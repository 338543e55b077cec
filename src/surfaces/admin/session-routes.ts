import { z } from 'zod';
import type { Session } from '#access/sessions.ts';
import { Failure } from '#core/failure.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import type { HttpAnswer, HttpRequest, Route } from '../http/message.ts';
import type { AdminContext } from './context.ts';
import { browserCookie, knownBrowser, ofOwnPages, sessionCookie, sessionToken, signedIn } from './guard.ts';
import { formOf, jsonBody } from './json-body.ts';

export const sessionPath = '/api/v1/session';

const text = (max: number) => z.string().min(1).max(max);

export const signInInput = z.strictObject({
	email: text(254),
	password: text(1024),
	code: text(64).optional().meta({ description: 'of the second factor, where the account has one; 401 with the field `code` asks for it' }),
});
export const changePasswordInput = z.strictObject({ current: text(1024), password: text(1024) });
export const sessionOutput = z.strictObject({
	user: z.strictObject({
		email: z.string(),
		role: z.enum(['auditor', 'manager', 'administrator']),
		sites: z.array(z.strictObject({ slug: z.string(), name: z.string() })).meta({ description: 'the sites that the user may see' }),
	}),
	csrf_token: z.string().meta({ description: 'send it as the header X-CSRF-Token with every method except GET' }),
	must_change_password: z.boolean().meta({ description: 'if true, everything else answers 403 until the password is changed' }),
	must_set_second_factor: z
		.literal(true)
		.optional()
		.meta({ description: 'everything else answers 403 until a second factor is set up, which the policy of the network requires' }),
	sign_in: z.literal('provider').optional().meta({ description: 'the OIDC provider signed the user in' }),
});
export const signedOutOutput = z.strictObject({
	provider_sign_out: z.url().meta({ description: 'where the browser signs out of the OIDC provider as well' }),
});

/** Returns the routes for signing in and out and for changing one's own password. */
export function sessionRoutes(context: AdminContext): Route[] {
	const despitePassword = { despitePassword: true };
	return [
		ofOwnPages({ method: 'POST', pattern: sessionPath }, (request) => signIn(context, request)),
		signedIn(context, { method: 'GET', pattern: sessionPath }, (session) => jsonAnswer(200, recordOf(session)), despitePassword),
		signedIn(
			context,
			{ method: 'DELETE', pattern: sessionPath },
			(session, request) => signOut(context, session, request),
			despitePassword,
		),
		signedIn(
			context,
			{ method: 'PUT', pattern: `${sessionPath}/password` },
			(session, request) => changePassword(context, session, request),
			despitePassword,
		),
	];
}

function recordOf({
	email,
	role,
	sites,
	csrfToken,
	mustChangePassword,
	mustSetSecondFactor,
	signIn,
}: Session): z.infer<typeof sessionOutput> {
	return {
		user: { email, role, sites: [...sites] },
		csrf_token: csrfToken,
		must_change_password: mustChangePassword,
		...(mustSetSecondFactor && { must_set_second_factor: true as const }),
		...(signIn === 'provider' && { sign_in: signIn }),
	};
}

async function signIn(context: AdminContext, request: HttpRequest): Promise<HttpAnswer> {
	const given = formOf(signInInput, jsonBody(request));
	const caller = { source: request.source, browser: knownBrowser(request) };
	const { token, browser } = await counted(context, { ...caller, code: given.code }, () => context.signIn.signIn(given, caller));
	const session = await context.sessions.find(token);
	if (session === undefined) throw new Failure('unauthenticated', 'you are not signed in');
	await endPrevious(context, request);
	const cookies = [sessionCookie(request, token), browserCookie(request, sessionPath, browser)];
	return { ...jsonAnswer(200, recordOf(session)), cookies };
}

/** Ends the previous session when somebody signs in again in the same browser. */
export async function endPrevious({ sessions }: AdminContext, request: HttpRequest): Promise<void> {
	const token = sessionToken(request);
	const previous = token === undefined ? undefined : await sessions.find(token);
	if (previous !== undefined) await sessions.end(previous);
}

async function counted<T>(
	{ metrics, refusals }: AdminContext,
	{ source, code }: { source: string; code: string | undefined },
	work: () => Promise<T>,
): Promise<T> {
	try {
		const result = await work();
		metrics.signIns.inc({ result: 'accepted' });
		return result;
	} catch (error) {
		if (error instanceof Failure && error.code === 'unauthenticated') {
			const isAboutCode = error.location?.expression === 'code';
			// Whoever is asked for a code has given the right password.
			if (isAboutCode && code === undefined) throw error;
			metrics.signIns.inc({ result: 'refused' });
			// The audit trail has it already, with the account.
			refusals.note({ action: 'user.sign-in-failed', reason: isAboutCode ? 'wrong code' : 'wrong password', source, isAudited: false });
		}
		if (error instanceof Failure && error.code === 'too-many-requests') {
			metrics.signIns.inc({ result: 'locked' });
			refusals.note({ action: 'user.sign-in-refused', reason: 'too many wrong passwords', source });
		}
		throw error;
	}
}

/** The address at which browsers reach the console. Where ADMIN_URL does not say it, the one at which the surface listens. */
export function consoleUrl({ adminUrl }: AdminContext, { origin }: Pick<HttpRequest, 'origin'>): string {
	return adminUrl ?? origin;
}

async function signOut(context: AdminContext, session: Session, request: HttpRequest): Promise<HttpAnswer> {
	const { signIn, providerSignIn } = context;
	await signIn.signOut(session, request.source);
	const cookies = [sessionCookie(request)];
	const isProviders = session.signIn === 'provider';
	const url = isProviders ? await providerSignIn?.provider.endSessionUrl(`${consoleUrl(context, request)}/`) : undefined;
	return url === undefined ? { status: 204, cookies } : { ...jsonAnswer(200, { provider_sign_out: url }), cookies };
}

async function changePassword({ signIn }: AdminContext, session: Session, request: HttpRequest): Promise<HttpAnswer> {
	const { current, password } = formOf(changePasswordInput, jsonBody(request));
	await signIn.changePassword(session, current, password, request.source);
	return { status: 204 };
}
