import { z } from 'zod';
import { newAttempt } from '#access/provider/attempt.ts';
import { ProviderAway } from '#access/provider/provider.ts';
import { type Refusal, SignInRefused } from '#access/provider/provider-sign-in.ts';
import { Failure } from '#core/failure.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import { bodyType } from '../http/media-type.ts';
import type { HttpAnswer, HttpRequest, Route } from '../http/message.ts';
import type { AdminContext } from './context.ts';
import { attemptCookie, attemptOfBrowser, browserRoute, ofOwnPages, sessionCookie } from './guard.ts';
import { consoleUrl, endPrevious, sessionPath } from './session-routes.ts';

export const waysPath = `${sessionPath}/ways`;
export const providerPath = `${sessionPath}/provider`;
const callbackPath = `${providerPath}/callback`;
export const waysOutput = z.strictObject({
	local: z.enum(['all', 'administrators']).meta({ description: 'who may sign in with a password' }),
	provider: z.strictObject({ issuer: z.string() }).nullable().meta({ description: 'the OIDC provider, if there is one' }),
});
/** A form of a provider has one token, of a few kilobytes. */
const logoutBytesMax = 64 * 1024;

/** Returns the routes by which people sign in at the OIDC provider. Without one, all but that which says so answer 404. */
export function providerRoutes(context: AdminContext): Route[] {
	const { providerSignIn } = context;
	const ways = {
		local: context.localSignIn,
		provider: providerSignIn === undefined ? null : { issuer: providerSignIn.provider.settings.issuer },
	};
	return [
		ofOwnPages({ method: 'GET', pattern: waysPath }, () => jsonAnswer(200, ways)),
		ofOwnPages({ method: 'GET', pattern: providerPath }, (request) => begin(context, request)),
		// The provider sends the browser here, so the request comes from a page of another origin. State and cookie vouch for it.
		browserRoute({ method: 'GET', pattern: callbackPath }, (request) => finish(context, request)),
		browserRoute({ method: 'POST', pattern: `${providerPath}/logout` }, (request) => logOut(context, request)),
	];
}

function providerOf({ providerSignIn }: AdminContext) {
	if (providerSignIn === undefined) throw new Failure('not-found', 'there is no sign-in provider');
	return providerSignIn;
}

async function begin(context: AdminContext, request: HttpRequest): Promise<HttpAnswer> {
	const { cookie, attempt } = newAttempt(new URLSearchParams(request.query).get('return') ?? '/');
	const url = await providerOf(context).provider.authorizationUrl(attempt, `${consoleUrl(context, request)}${callbackPath}`);
	if (url === undefined) return toConsole('away');
	return { status: 303, headers: { Location: url }, cookies: [attemptCookie(request, callbackPath, cookie)] };
}

/** A page of the console says what went wrong. */
function toConsole(reason: Refusal | 'busy'): HttpAnswer {
	return { status: 303, headers: { Location: `/?sign-in=${reason}` } };
}

async function finish(context: AdminContext, request: HttpRequest): Promise<HttpAnswer> {
	const ended = attemptCookie(request, callbackPath);
	try {
		const { source } = request;
		const provider = providerOf(context);
		const answer = new URL(`${consoleUrl(context, request)}${callbackPath}?${request.query}`);
		const attempt = provider.attemptOf(answer, attemptOfBrowser(request));
		const outcome = await context.signIn.counted(source, () => provider.finish(answer, attempt, source));
		if ('refusal' in outcome) throw new SignInRefused(outcome.refusal);
		context.metrics.signIns.inc({ result: 'accepted' });
		await endPrevious(context, request);
		return { status: 303, headers: { Location: attempt.path }, cookies: [sessionCookie(request, outcome.token), ended] };
	} catch (error) {
		if (error instanceof SignInRefused) {
			context.metrics.signIns.inc({ result: 'refused' });
			return { ...toConsole(error.reason), cookies: [ended] };
		}
		if (!(error instanceof Failure) || error.code !== 'too-many-requests') throw error;
		context.metrics.signIns.inc({ result: 'locked' });
		return { ...toConsole('busy'), cookies: [ended] };
	}
}

/** OpenID Connect Back-Channel Logout 1.0 §2.5 to §2.8. */
async function logOut(context: AdminContext, request: HttpRequest): Promise<HttpAnswer> {
	bodyType(request, ['application/x-www-form-urlencoded']);
	if (request.body.length > logoutBytesMax) throw new Failure('too-large', 'the form is too long');
	const token = new URLSearchParams(Buffer.from(request.body).toString('utf8')).get('logout_token') ?? '';
	try {
		if (!(await providerOf(context).logOut(token, request.source))) throw new Failure('invalid', 'the logout token is not valid');
	} catch (error) {
		if (!(error instanceof ProviderAway)) throw error;
		throw new Failure('unavailable', 'the keys of the provider cannot be had', { cause: error, retryAfterSeconds: 5 });
	}
	return { status: 200 };
}
