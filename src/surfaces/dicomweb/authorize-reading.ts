import type { KeyGrant } from '#access/directory.ts';
import { ViewerTokens, type ViewingGrant } from '#access/viewer-tokens.ts';
import { Failure } from '#core/failure.ts';
import { letIn } from '../http/authenticate.ts';
import { authorize, bearerOf, refuseKeyBeside } from '../http/authorize.ts';
import type { HttpRequest } from '../http/message.ts';
import type { DicomWebContext } from './context.ts';

type Asked = Pick<HttpRequest, 'header' | 'caller' | 'keyScope'>;

/** Everything that the caller may see of the site, or one study of it. */
export type ReadingGrant = KeyGrant & Partial<Pick<ViewingGrant, 'onlyStudy'>>;

/**
 * Identifies who reads, as `authorize` does, or by the token of a link that opens one study in another viewer.
 * @throws Failure as `authorize` does
 */
export function authorizeReading(context: DicomWebContext, request: Asked): ReadingGrant | Promise<ReadingGrant> {
	const authorization = request.header('authorization');
	const token = authorization === undefined ? undefined : bearerOf(authorization);
	if (token === undefined || !ViewerTokens.isForm(token)) return authorize(context, request);
	return viewing(context, request, token);
}

async function viewing({ viewers, metrics }: DicomWebContext, request: Asked, token: string): Promise<ReadingGrant> {
	refuseKeyBeside(request);
	const grant = await viewers.grantOf(token);
	if (grant) {
		letIn(request, grant);
		return grant;
	}
	metrics.accessRefusals.inc({ protocol: 'http', reason: 'token' });
	throw new Failure('unauthenticated', 'the link to this study is over: open the study again', {
		challenge: 'Bearer error="invalid_token"',
	});
}
