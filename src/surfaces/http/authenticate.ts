import type { AccessDirectory, KeyGrant } from '#access/directory.ts';
import type { AccessMetrics } from '#access/metrics.ts';
import { Failure } from '#core/failure.ts';
import { type KeyScope, missingKeyScope } from '#record/key-scopes.ts';
import { fhirScopesOf } from '#record/scopes.ts';
import { settingOf } from '#record/settings/settings.ts';
import type { HttpRequest } from './message.ts';

export interface AuthenticationContext {
	directory: AccessDirectory;
	metrics: Pick<AccessMetrics, 'accessRefusals'>;
}

/** Advice to a client. A caller who comes earlier is not refused for it. */
export const retryAfterSeconds = 5;

/** The only way in where no access tokens are taken. */
export const keyChallenge = 'X-API-Key';

/**
 * @throws Failure `unauthenticated`, the same for every reason; `insufficient-scope` if the key is limited to other scopes than that of the
 * route; `unavailable` while keys cannot be checked
 */
export function authenticate(
	{ directory, metrics }: AuthenticationContext,
	request: Pick<HttpRequest, 'header' | 'caller' | 'keyScope'>,
	{ diagnostics, challenge } = { diagnostics: 'a valid API key is required in the header X-API-Key', challenge: keyChallenge },
): KeyGrant {
	const grant = directory.grantOfKey(request.header('x-api-key'), request.caller.grant);
	if (grant === 'unavailable') throw new Failure('unavailable', 'API keys cannot be checked at the moment', { retryAfterSeconds });
	if (grant?.keyScopes !== undefined) return limited(metrics, letIn(request, grant), request.keyScope);
	if (grant) return letIn(request, grant);
	metrics.accessRefusals.inc({ protocol: 'http', reason: 'key' });
	throw new Failure('unauthenticated', diagnostics, { challenge });
}

/** The scopes of the grant say the rest of what a route of FHIR needs. */
function limited(metrics: AuthenticationContext['metrics'], grant: KeyGrant, needed: KeyScope | undefined): KeyGrant {
	const { keyScopes = [] } = grant;
	if (needed !== undefined && !keyScopes.includes(needed)) {
		metrics.accessRefusals.inc({ protocol: 'http', reason: 'scope' });
		throw missingKeyScope(needed);
	}
	return needed === 'imaging' || needed === 'ingest' ? grant : { ...grant, scopes: fhirScopesOf(keyScopes) };
}

/** A caller whose site was moved is not asked to come every few seconds. */
const movedRetrySeconds = 30;

/**
 * Tells the server who calls, however that was found out.
 * @throws Failure `unavailable` if the site was moved to another database
 */
export function letIn({ caller }: Pick<HttpRequest, 'caller'>, grant: KeyGrant): KeyGrant {
	if (grant.moved !== undefined) throw new Failure('unavailable', grant.moved, { retryAfterSeconds: movedRetrySeconds });
	caller.grant = grant;
	caller.origins = settingOf(grant.settings, 'cors_origins');
	return grant;
}
