import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { decodeJwt, decodeProtectedHeader, type JWK, SignJWT } from 'jose';
import { addIssuer, listIssuers, removeIssuer, setIssuer } from '#administration/issuers.ts';
import { clientId, jwtAudience, signingKey, type TestProvider, testProvider } from '#test/support/oidc-provider.ts';
import { type TestService, testService } from '#test/support/service.ts';

const scopes = ['system/*.cruds', 'system/Patient.rs', 'system/Observation.rs', 'system/*.read', 'patient/Patient.rs'];

let product: TestService;
let provider: TestProvider;
let northKey: string;

before(async () => {
	product = await testService({ TOKEN_CHECKED_MS_MAX: '0', TOKEN_KEYS_UNKNOWN_MS: '100' });
	provider = await testProvider(scopes);
	({ key: northKey } = await product.addSite('north'));
	await product.addSite('south');
	await addIssuer(product.administration, {
		site: 'north',
		owner: 'owner@example.org',
		issuer: provider.issuer,
		audience: jwtAudience,
		clients: [clientId],
	});
});

after(async () => {
	await provider[Symbol.asyncDispose]();
	await product[Symbol.asyncDispose]();
});

interface Answer {
	status: number;
	body: ReturnType<typeof JSON.parse>;
	headers: Headers;
}

async function ask(path: string, headers: Record<string, string>, init: { method?: string; body?: string } = {}): Promise<Answer> {
	const answer = await fetch(`http://127.0.0.1:${product.port('fhir')}${path}`, { ...init, headers });
	const text = await answer.text();
	return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const fhirJson = { 'Content-Type': 'application/fhir+json' };

describe('an access token of the provider of a site', { timeout: 120_000 }, () => {
	test('is got by client_credentials with private_key_jwt, and reads and writes the site', async () => {
		const token = await provider.token('system/*.cruds');
		const created = await ask(
			'/fhir/Patient',
			{ ...bearer(token), ...fhirJson },
			{
				method: 'POST',
				body: JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Token' }] }),
			},
		);
		assert.equal(created.status, 201);
		const read = await ask(`/fhir/Patient/${created.body.id}`, bearer(token));
		assert.equal(read.status, 200);
		const byKey = await ask(`/fhir/Patient/${created.body.id}`, { 'X-API-Key': northKey });
		assert.deepEqual(byKey.body, read.body);
	});

	const refused = (answer: Answer) => {
		assert.equal(answer.status, 401);
		assert.equal(answer.headers.get('www-authenticate'), 'X-API-Key, Bearer error="invalid_token"');
		assert.deepEqual(answer.body.issue, unauthenticated);
	};
	const now = () => Math.floor(Date.now() / 1000);

	test('is taken whoever made it, as long as issuer, audience, client, time and signature are right', async () => {
		assert.equal((await ask('/fhir/Patient', bearer(await provider.forge({ scope: 'system/Patient.rs' })))).status, 200);
	});

	for (const [what, make] of Object.entries<() => Promise<string>>({
		'of another issuer': () => provider.forge({ iss: 'https://elsewhere.test', scope: 'system/*.rs' }),
		'for another audience': () => provider.forge({ aud: 'https://elsewhere.test', scope: 'system/*.rs' }),
		'of a client that the site does not take': () => provider.token('system/*.cruds', { client: 'stranger' }),
		'without a client': () => provider.forge({ client_id: 7, scope: 'system/*.rs' }),
		'that is past its time': () => provider.forge({ exp: now() - 60, scope: 'system/*.rs' }),
		'that never expires': () => provider.forge({ exp: undefined, scope: 'system/*.rs' }),
		'before its time': () => provider.forge({ nbf: now() + 120, scope: 'system/*.rs' }),
		'that is bound to a key of its client': () => provider.forge({ cnf: { jkt: 'x' }, scope: 'system/*.rs' }),
		'that is an ID token': () => provider.forge({ scope: 'system/*.rs' }, { header: { typ: 'logout+jwt' } }),
		'with critical extensions': async () =>
			tampered(await provider.forge({ scope: 'system/*.rs' }), { alg: 'RS256', crit: ['b64'], b64: false }),
		'without a signature': async () => unsigned(await provider.forge({ scope: 'system/*.rs' }), { alg: 'none' }),
		'signed with the public key as a secret': async () => hmac(await provider.forge({ scope: 'system/*.rs' })),
		'signed with another key of the same name': async () => {
			const kid = String(decodeProtectedHeader(await provider.forge({})).kid);
			return provider.forge({ scope: 'system/*.rs' }, { key: await signingKey('RS256', kid) });
		},
		'signed with a key that the issuer does not have': async () =>
			provider.forge({ scope: 'system/*.rs' }, { key: await signingKey('RS256') }),
		'with changed claims': async () => changed(await provider.forge({ scope: 'system/Patient.rs' }), { scope: 'system/*.cruds' }),
		'that is no JWT': async () => 'opaque',
		'that is empty': async () => '',
		'that is not one word': async () => 'a b',
	})) {
		test(`${what} is refused, in the same words as every other`, async () => refused(await ask('/fhir/Patient', bearer(await make()))));
	}

	test('of one site opens no other site, and is refused where two sites would take it', async () => {
		const token = await provider.forge({ scope: 'system/*.rs', tenant: 'south' });
		const add = (site: string, more: object) =>
			addIssuer(product.administration, {
				...{ site, owner: 'owner@example.org', issuer: provider.issuer, audience: jwtAudience, clients: [clientId], ...more },
			});
		await assert.rejects(add('south', {}), /the site 'north' takes the same tokens/);
		const byAudience = await add('south', { audience: 'https://south.test' });
		const southern = await provider.forge({ scope: 'system/*.rs', aud: 'https://south.test' });
		assert.equal((await ask('/fhir/Patient?family=Token&_summary=count', bearer(southern))).body.total, 0);
		assert.equal((await ask('/fhir/Patient?family=Token&_summary=count', bearer(token))).body.total, 1);
		refused(await ask('/fhir/Patient', bearer(await provider.forge({ scope: 'system/*.rs', aud: ['https://south.test', jwtAudience] }))));
		await removeIssuer(product.administration, byAudience.id);
		refused(await ask('/fhir/Patient', bearer(southern)));
	});

	test('comes alone: with an API key, or twice, it is refused', async () => {
		const token = await provider.forge({ scope: 'system/*.rs' });
		assert.equal((await ask('/fhir/Patient', { ...bearer(token), 'X-API-Key': northKey })).status, 400);
		refused(await ask('/fhir/Patient', { Authorization: 'Basic bm9ydGg6c2VjcmV0' }));
		const bare = await ask('/fhir/Patient', {});
		assert.equal(bare.headers.get('www-authenticate'), 'X-API-Key, Bearer');
		assert.deepEqual(bare.body.issue, unauthenticated);
	});

	test('is refused with its next request when its row is disabled', async () => {
		const token = await provider.forge({ scope: 'system/*.rs' });
		const [row] = await listIssuers(product.administration);
		assert.ok(row);
		await setIssuer(product.administration, { id: row.id, active: false });
		refused(await ask('/fhir/Patient', bearer(token)));
		await setIssuer(product.administration, { id: row.id, active: true });
		assert.equal((await ask('/fhir/Patient', bearer(token))).status, 200);
	});

	test('outlives its key for no longer than the provider publishes it, and a new key is taken at once', async () => {
		const before = await provider.token('system/*.cruds');
		assert.equal((await ask('/fhir/Patient', bearer(before))).status, 200);
		await provider.rollOver();
		const token = await provider.token('system/*.cruds');
		assert.equal((await ask('/fhir/Patient', bearer(token))).status, 200);
		refused(await ask('/fhir/Patient', bearer(before)));
	});
});

const unauthenticated = [
	{
		severity: 'error',
		code: 'login',
		diagnostics: 'a valid API key is required in the header X-API-Key, or an access token in the header Authorization',
	},
];

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function unsigned(token: string, header: object): string {
	return `${part(header)}.${token.split('.')[1]}.AA`;
}

function tampered(token: string, header: object): string {
	const [, claims, signature] = token.split('.');
	return `${part({ ...decodeProtectedHeader(token), ...header })}.${claims}.${signature}`;
}

function changed(token: string, claims: object): string {
	const [header, , signature] = token.split('.');
	return `${header}.${part({ ...decodeJwt(token), ...claims })}.${signature}`;
}

/** Takes what everybody may know, the public key, for a secret. */
async function hmac(token: string): Promise<string> {
	const answer = await fetch(`${provider.issuer}/jwks`);
	const { keys } = (await answer.json()) as { keys: JWK[] };
	const secret = Buffer.from(JSON.stringify(keys[0]));
	return new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: 'HS256', kid: String(keys[0]?.kid), typ: 'at+jwt' }).sign(secret);
}
