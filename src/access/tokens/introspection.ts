import type { JsonObject } from '#core/json.ts';
import type { HttpReach } from '#core/permitted-request.ts';
import { callProvider, ProviderError } from './call.ts';
import type { IntrospectionEndpoint } from './issuer.ts';

/** RFC 6749 §2.3.1: id and secret are encoded as in a form before they become Basic credentials. */
function basic({ clientId, clientSecret }: IntrospectionEndpoint): string {
	const encoded = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
	return `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64')}`;
}

/**
 * Asks the provider what a token is (RFC 7662 §2). Returns its claims, or undefined if the token is not active.
 * @throws Error when there is no usable answer
 */
export async function introspect(endpoint: IntrospectionEndpoint, token: string, reach: HttpReach): Promise<JsonObject | undefined> {
	const headers = { Authorization: basic(endpoint), 'Content-Type': 'application/x-www-form-urlencoded' };
	const body = new URLSearchParams({ token, token_type_hint: 'access_token' }).toString();
	const answer = await callProvider(endpoint.url, { method: 'POST', headers, body }, reach);
	if (answer === null || typeof answer !== 'object' || Array.isArray(answer) || typeof answer['active'] !== 'boolean') {
		throw new ProviderError('the answer of the introspection endpoint does not say whether the token is active');
	}
	return answer['active'] ? answer : undefined;
}
