import { z } from 'zod';
import type { Session } from '#access/sessions.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import type { HttpRequest, Route } from '../http/message.ts';
import type { AdminContext } from './context.ts';
import { signedIn } from './guard.ts';
import { formOf, jsonBody } from './json-body.ts';
import { sessionPath } from './session-routes.ts';

export const secondFactorPath = `${sessionPath}/second-factor`;

const code = z.string().min(1).max(64).meta({ description: 'the code of the authenticator app, or a recovery code' });

export const beginFactorInput = z.strictObject({ password: z.string().min(1).max(1024), code: code.optional() });
export const codeInput = z.strictObject({ code });
export const factorOutput = z.strictObject({
	enabled: z.boolean(),
	required: z.boolean().meta({ description: 'the policy of the network requires it of your role' }),
	recovery_codes_left: z.int(),
});
export const newFactorOutput = z.strictObject({
	secret: z.string().meta({ description: 'in base32, for people who type it' }),
	uri: z.string().meta({ description: 'otpauth://…, for a QR code' }),
});
export const recoveryCodesOutput = z.strictObject({
	recovery_codes: z.array(z.string()).meta({ description: 'each lets you in once in place of a code; they are shown only once' }),
});

/** Returns the routes by which people set up a second factor of their own account, and take it away. */
export function secondFactorRoutes(context: AdminContext): Route[] {
	const { signIn } = context;
	const despiteSecondFactor = { despiteSecondFactor: true };
	/** Uses the code that the form has. Wrong ones are counted. */
	const byCode = <T>(session: Session, request: HttpRequest, use: (given: string) => Promise<T>): Promise<T> => {
		const given = formOf(codeInput, jsonBody(request));
		return signIn.guarded(session, () => use(given.code));
	};
	return [
		signedIn(
			context,
			{ method: 'GET', pattern: secondFactorPath },
			async (session) => {
				const { enabled, required, recoveryCodesLeft } = await signIn.secondFactors.stateOf(session);
				return jsonAnswer(200, { enabled, required, recovery_codes_left: recoveryCodesLeft });
			},
			despiteSecondFactor,
		),
		signedIn(
			context,
			{ method: 'POST', pattern: secondFactorPath },
			async (session, request) => {
				const given = formOf(beginFactorInput, jsonBody(request));
				return jsonAnswer(200, await signIn.beginSecondFactor(session, given, request.source));
			},
			despiteSecondFactor,
		),
		signedIn(
			context,
			{ method: 'PUT', pattern: secondFactorPath },
			async (session, request) => {
				const codes = await byCode(session, request, (given) => signIn.secondFactors.confirm(session, given, request.source));
				return jsonAnswer(200, { recovery_codes: codes });
			},
			despiteSecondFactor,
		),
		signedIn(context, { method: 'POST', pattern: `${secondFactorPath}/recovery-codes` }, async (session, request) => {
			const codes = await byCode(session, request, (given) => signIn.secondFactors.renewRecoveryCodes(session, given, request.source));
			return jsonAnswer(200, { recovery_codes: codes });
		}),
		signedIn(context, { method: 'POST', pattern: `${secondFactorPath}/remove` }, async (session, request) => {
			await byCode(session, request, (given) => signIn.secondFactors.remove(session, given, request.source));
			return { status: 204 };
		}),
	];
}
