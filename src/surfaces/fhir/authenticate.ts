import type { KeyGrant } from '#access/directory.ts';
import { Failure } from '#core/failure.ts';
import type { HttpRequest } from '../http/message.ts';
import type { FhirContext } from './context.ts';

/** @throws Failure `unauthenticated`, the same for every reason */
export function authenticate(
	{ directory, metrics }: Pick<FhirContext, 'directory' | 'metrics'>,
	request: Pick<HttpRequest, 'header'>,
): KeyGrant {
	const grant = directory.grantOfKey(request.header('x-api-key'));
	if (grant) return grant;
	metrics.accessRefusals.inc({ protocol: 'http', reason: 'key' });
	throw new Failure('unauthenticated', 'a valid API key is required in the header X-API-Key');
}
