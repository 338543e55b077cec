import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';

/** What the tests name as the audience of JWTs and of opaque tokens. */
export const jwtAudience = 'https://tributary.test/fhir';
export const opaqueAudience = 'https://tributary.test/opaque';
export const clientId = 'research-export';
export const introspectionClient = { id: 'tributary', secret: 'known only to the test: "&=+' };

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

interface SigningKey {
	kid: string;
	alg: string;
	privateKey: PrivateKey;
	jwk: JWK;
}

export async function signingKey(alg: string, kid: string = randomUUID()): Promise<SigningKey> {
	const { privateKey } = await generateKeyPair(alg, { extractable: true });
	return { kid, alg, privateKey, jwk: { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' } };
}

/** An OIDC provider of a hospital: oidc-provider on a port of its own, with a client that signs its assertions (RFC 7523). */
export interface TestProvider extends AsyncDisposable {
	issuer: string;
	/** Gets an access token as SMART backend services do: client_credentials with private_key_jwt. */
	token(scope: string, options?: { audience?: string; client?: string }): Promise<string>;
	/** A JWT with the provider's key, or with another one, and with claims that the provider would not write. */
	forge(claims: Record<string, unknown>, options?: { key?: SigningKey; header?: object }): Promise<string>;
	revoke(token: string): Promise<void>;
	/** Signs with a new key from now on; the old one is withdrawn. */
	rollOver(): Promise<void>;
	/** Requests by path since the start. */
	requests: Map<string, number>;
	/** The `traceparent` of each request that had one. */
	traceparents: string[];
	/** What the provider does with requests: answers them, fails, never answers, or is not there. */
	mode: 'answers' | 'fails' | 'hangs';
	stop(): Promise<void>;
}

export async function testProvider(scopes: readonly string[], extraClaims: Record<string, unknown> = {}): Promise<TestProvider> {
	const assertionKey = await signingKey('ES384');
	let key = await signingKey('RS256');
	let provider: Provider | undefined;
	const server: Server = createServer((request, response) => handle(request, response));
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const requests = new Map<string, number>();
	const traceparents: string[] = [];
	const start = () => {
		provider = new Provider(issuer, configuration({ key, assertionKey, scopes, extraClaims }));
	};
	const handle = (request: IncomingMessage, response: ServerResponse) => {
		const { pathname } = new URL(request.url ?? '/', issuer);
		requests.set(pathname, (requests.get(pathname) ?? 0) + 1);
		const { traceparent } = request.headers;
		if (typeof traceparent === 'string') traceparents.push(traceparent);
		if (made.mode === 'hangs') return;
		if (made.mode === 'fails' || provider === undefined) response.writeHead(500).end();
		else void provider.callback()(request, response);
	};
	const post = async (path: string, parameters: Record<string, string>, client: string) => {
		const assertion = await new SignJWT({})
			.setProtectedHeader({ alg: 'ES384', kid: assertionKey.kid, typ: 'JWT' })
			.setIssuer(client)
			.setSubject(client)
			.setAudience(issuer)
			.setJti(randomUUID())
			.setIssuedAt()
			.setExpirationTime('2m')
			.sign(assertionKey.privateKey);
		const body = new URLSearchParams({
			...parameters,
			client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
			client_assertion: assertion,
		});
		return fetch(`${issuer}${path}`, { method: 'POST', body });
	};
	const made: TestProvider = {
		issuer,
		requests,
		traceparents,
		mode: 'answers',
		async token(scope, { audience = jwtAudience, client = clientId } = {}) {
			const answer = await post('/token', { grant_type: 'client_credentials', scope, resource: audience }, client);
			const text = await answer.text();
			if (answer.status !== 200) throw new Error(`no token: ${text}`);
			return JSON.parse(text).access_token;
		},
		forge: (claims, { key: other = key, header = {} } = {}) =>
			new SignJWT({ iss: issuer, aud: jwtAudience, client_id: clientId, exp: Math.floor(Date.now() / 1000) + 60, ...claims })
				.setProtectedHeader({ alg: other.alg, kid: other.kid, typ: 'at+jwt', ...header })
				.sign(other.privateKey),
		async revoke(token) {
			const answer = await post('/token/revocation', { token }, clientId);
			if (answer.status !== 200) throw new Error(`not revoked: ${await answer.text()}`);
		},
		async rollOver() {
			key = await signingKey('RS256');
			start();
		},
		async stop() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
		[Symbol.asyncDispose]: async () => {
			if (server.listening) await made.stop();
		},
	};
	start();
	return made;
}

interface Making {
	key: SigningKey;
	assertionKey: SigningKey;
	scopes: readonly string[];
	extraClaims: Record<string, unknown>;
}

function configuration({ key, assertionKey, scopes, extraClaims }: Making): Configuration {
	const { d: _private, ...publicKey } = assertionKey.jwk;
	const backend = (client_id: string) => ({
		client_id,
		grant_types: ['client_credentials'],
		response_types: [],
		redirect_uris: [],
		token_endpoint_auth_method: 'private_key_jwt' as const,
		token_endpoint_auth_signing_alg: 'ES384' as const,
		jwks: { keys: [publicKey] },
		scope: scopes.join(' '),
	});
	const resourceServer = {
		client_id: introspectionClient.id,
		client_secret: introspectionClient.secret,
		grant_types: [],
		response_types: [],
		redirect_uris: [],
		token_endpoint_auth_method: 'client_secret_basic' as const,
	};
	return {
		clients: [backend(clientId), backend('stranger'), resourceServer],
		jwks: { keys: [key.jwk] },
		cookies: { keys: [randomUUID()] },
		scopes: [...scopes],
		extraTokenClaims: () => extraClaims,
		enabledJWA: { clientAuthSigningAlgValues: ['ES384'] },
		features: {
			devInteractions: { enabled: false },
			clientCredentials: { enabled: true },
			revocation: { enabled: true },
			introspection: { enabled: true, allowedPolicy: () => true },
			resourceIndicators: {
				enabled: true,
				getResourceServerInfo: (_ctx, audience) => ({
					audience,
					scope: scopes.join(' '),
					accessTokenFormat: audience === opaqueAudience ? 'opaque' : 'jwt',
					accessTokenTTL: 300,
					jwt: { sign: { alg: 'RS256' } },
				}),
			},
		},
	};
}
