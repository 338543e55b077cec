import { Failure } from '#core/failure.ts';
import { resources } from '#fhir/resources/index.ts';
import { smartCapabilities, supportedScopes } from '#fhir/scopes.ts';
import { retryAfterSeconds } from '../http/authenticate.ts';
import { authorize } from '../http/authorize.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { FhirContext } from './context.ts';

/**
 * Answers `.well-known/smart-configuration` (SMART App Launch 2.2, "Conformance"), which clients read before they have a token. Without a key
 * it tells of the provider that all sites have in common, and with one of the provider of the key's site.
 */
export async function smartConfiguration(context: FhirContext, request: HttpRequest): Promise<HttpAnswer> {
	const isOpen = context.tokens.areTaken && request.header('x-api-key') === undefined && request.header('authorization') === undefined;
	const grant = isOpen ? undefined : await authorize(context, request);
	const endpoints = await context.tokens.endpointsOf(grant?.siteId, true);
	if (endpoints === 'away') throw new Failure('unavailable', 'the OIDC provider does not answer at the moment', { retryAfterSeconds });
	if (endpoints === 'none') {
		throw new Failure('not-found', grant ? 'the site has no OIDC provider' : 'there is no OIDC provider that all sites have in common');
	}
	const { tokenEndpoint, jwksUrl, introspectionEndpoint, codeChallengeMethods } = endpoints;
	return jsonAnswer(200, {
		token_endpoint: tokenEndpoint,
		jwks_uri: jwksUrl,
		...(introspectionEndpoint === undefined ? {} : { introspection_endpoint: introspectionEndpoint }),
		grant_types_supported: ['client_credentials'],
		token_endpoint_auth_methods_supported: ['private_key_jwt'],
		token_endpoint_auth_signing_alg_values_supported: ['RS384', 'ES384'],
		scopes_supported: supportedScopes(Object.values(resources)),
		code_challenge_methods_supported: codeChallengeMethods,
		capabilities: smartCapabilities,
	});
}
