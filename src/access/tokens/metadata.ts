import type { Json, JsonObject } from '#core/json.ts';
import type { HttpReach } from '#core/permitted-request.ts';
import { isProviderUrl } from '#core/provider-url.ts';
import { callProvider, ProviderError } from './call.ts';

/** A provider says this of itself (RFC 8414 §2, OpenID Connect Discovery 1.0 §3), as far as it is used. */
export interface ProviderMetadata {
	jwksUrl: string;
	tokenEndpoint: string | undefined;
	introspectionEndpoint: string | undefined;
	codeChallengeMethods: readonly string[];
}

/** OpenID Connect appends its path to the issuer; RFC 8414 §3 puts it before the path of the issuer. */
function addressesOf(issuer: string): string[] {
	const { origin, pathname } = new URL(issuer);
	const path = pathname.replace(/\/$/, '');
	return [`${origin}${path}/.well-known/openid-configuration`, `${origin}/.well-known/oauth-authorization-server${path}`];
}

/** @throws Error when neither address has the metadata of this issuer */
export async function discover(issuer: string, reach: HttpReach): Promise<ProviderMetadata> {
	const faults: unknown[] = [];
	for (const address of addressesOf(issuer)) {
		try {
			return metadataOf(issuer, await callProvider(address, { method: 'GET' }, reach));
		} catch (error) {
			// A provider that is away would only be waited for twice.
			if (!(error instanceof ProviderError)) throw error;
			faults.push(error);
		}
	}
	throw new AggregateError(faults, `the metadata of the issuer ${issuer} cannot be used`);
}

function metadataOf(issuer: string, answer: Json): ProviderMetadata {
	if (answer === null || typeof answer !== 'object' || Array.isArray(answer)) throw new ProviderError('the metadata are not an object');
	if (answer['issuer'] !== issuer) throw new ProviderError('the metadata are those of another issuer');
	const jwksUrl = urlOf(answer, 'jwks_uri');
	if (jwksUrl === undefined) throw new ProviderError('the metadata name no jwks_uri');
	const methods = answer['code_challenge_methods_supported'];
	return {
		jwksUrl,
		tokenEndpoint: urlOf(answer, 'token_endpoint'),
		introspectionEndpoint: urlOf(answer, 'introspection_endpoint'),
		codeChallengeMethods: Array.isArray(methods) ? methods.filter((method): method is string => typeof method === 'string') : [],
	};
}

function urlOf(answer: JsonObject, name: string): string | undefined {
	const value = answer[name];
	return typeof value === 'string' && isProviderUrl(value) ? value : undefined;
}
