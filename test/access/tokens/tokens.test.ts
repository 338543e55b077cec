import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { accessLimitDefinitions } from '#access/limits.ts';
import type { TokenIssuer } from '#access/tokens/issuer.ts';
import { type TokenGrant, Tokens } from '#access/tokens/tokens.ts';
import { defaultsOf } from '#core/limit-definition.ts';
import { createLog, silentLog } from '#core/log.ts';
import { targetPolicy } from '#core/target-policy.ts';
import {
	clientId,
	introspectionClient,
	jwtAudience,
	opaqueAudience,
	signingKey,
	type TestProvider,
	testProvider,
} from '#test/support/oidc-provider.ts';

const limits = { ...defaultsOf(accessLimitDefinitions), tokenProviderMsMax: 400 };
let provider: TestProvider;

before(async () => {
	provider = await testProvider(['system/*.rs']);
});
beforeEach(() => {
	provider.mode = 'answers';
	provider.requests.clear();
});
after(() => provider[Symbol.asyncDispose]());

function row(more: Partial<TokenIssuer> = {}): TokenIssuer {
	return {
		...{ id: 'row', siteId: 'north', siteSlug: 'north', settings: {}, issuer: provider.issuer, audience: jwtAudience },
		...{ clients: new Set([clientId]), jwksUrl: undefined, tokenEndpoint: undefined, clientClaim: undefined, scopeClaim: undefined },
		...{ siteClaim: undefined, introspection: undefined },
		...more,
	};
}

function opaque(more: Partial<TokenIssuer['introspection']> = {}): TokenIssuer {
	const { id, secret } = introspectionClient;
	const url = `${provider.issuer}/token/introspection`;
	return row({ audience: opaqueAudience, introspection: { url, clientId: id, clientSecret: secret, ...more } });
}

function tokensOf(
	issuers: readonly TokenIssuer[],
	given: Partial<typeof limits> = {},
	targets = targetPolicy([], '127.0.0.1'),
	log = silentLog,
) {
	const clock = { ahead: 0, nowMs: () => Date.now() + clock.ahead };
	const directory = { issuers, certain: true };
	return { clock, directory, tokens: new Tokens({ directory, limits: { ...limits, ...given }, targets, log, clock }) };
}

const keysRead = () => provider.requests.get('/jwks') ?? 0;
const asked = () => provider.requests.get('/token/introspection') ?? 0;
const siteOf = (grant: TokenGrant) => (typeof grant === 'object' ? grant.siteId : grant);
const minute = 60_000;

describe('the keys of an OIDC provider', () => {
	test('are fetched once for many tokens, and a token is checked once in a while', async () => {
		const { tokens, clock } = tokensOf([row()]);
		const token = await provider.forge({ scope: 'system/*.rs' });
		const others = await Promise.all(Array.from({ length: 8 }, (_, index) => provider.forge({ jti: String(index) })));
		for (const grant of await Promise.all([token, token, ...others].map((one) => tokens.grantOf(one))))
			assert.equal(siteOf(grant), 'north');
		assert.equal(keysRead(), 1);
		const known = tokens.grantOf(token);
		assert.ok(!(known instanceof Promise));
		assert.deepEqual(known, {
			keyId: `token:${clientId}`,
			siteId: 'north',
			siteSlug: 'north',
			settings: {},
			scopes: { whole: { '*': 'rs' }, parts: [] },
		});
		clock.ahead = limits.tokenCheckedMsMax + 1;
		assert.ok(tokens.grantOf(token) instanceof Promise);
	});

	test('stay in use while the provider is away, until they are too old', async () => {
		const { tokens, clock } = tokensOf([row()]);
		const at = (ms: number) => provider.forge({ jti: String(ms), exp: Math.floor((Date.now() + ms) / 1000) + 60 });
		assert.equal(siteOf(await tokens.grantOf(await at(0))), 'north');
		for (const mode of ['fails', 'hangs'] as const) {
			provider.mode = mode;
			clock.ahead += limits.tokenKeysMsMax + 10 * minute;
			assert.equal(siteOf(await tokens.grantOf(await at(clock.ahead))), 'north');
		}
		clock.ahead = limits.tokenKeysStaleMsMax + minute;
		assert.equal(await tokens.grantOf(await at(clock.ahead)), 'unavailable');
		provider.mode = 'answers';
		clock.ahead += minute;
		assert.equal(siteOf(await tokens.grantOf(await at(clock.ahead))), 'north');
	});

	for (const mode of ['fails', 'hangs'] as const) {
		test(`that were never had are no reason to call a token wrong: the provider ${mode}`, async () => {
			provider.mode = mode;
			const { tokens } = tokensOf([row()]);
			assert.equal(await tokens.grantOf(await provider.forge({})), 'unavailable');
			assert.equal(await tokens.endpointsOf('north', true), 'away');
		});
	}

	test('are sought anew for an unknown name, but not as often as somebody invents names', async () => {
		const { tokens, clock } = tokensOf([row()]);
		assert.equal(siteOf(await tokens.grantOf(await provider.forge({}))), 'north');
		for (let tries = 0; tries < 5; tries++) {
			assert.equal(await tokens.grantOf(await provider.forge({}, { key: await signingKey('ES256') })), undefined);
		}
		assert.equal(keysRead(), 2);
		clock.ahead = limits.tokenKeysUnknownMs + 1;
		assert.equal(await tokens.grantOf(await provider.forge({}, { key: await signingKey('ES384') })), undefined);
		assert.equal(keysRead(), 3);
	});

	test('are not asked for because of a token that no site takes', async () => {
		const { tokens } = tokensOf([row()]);
		for (const claims of [{ iss: 'https://elsewhere.test' }, { aud: 'other' }, { client_id: 'other' }, { exp: 1 }])
			assert.equal(await tokens.grantOf(await provider.forge(claims)), undefined);
		assert.deepEqual([...provider.requests], []);
	});

	test('are read within a length, and not from where a redirect leads', async () => {
		for (const answer of [
			{ status: 200, body: JSON.stringify({ keys: [], padding: 'x'.repeat(300_000) }) },
			{ status: 200, body: 'no JSON' },
			{ status: 200, body: '{"keys":{}}' },
			{ status: 302, body: '' },
		]) {
			const server = createServer((_request, response) => {
				response.writeHead(answer.status, { Location: `${provider.issuer}/jwks` }).end(answer.body);
			});
			await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
			const { tokens } = tokensOf([row({ jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` })]);
			assert.equal(await tokens.grantOf(await provider.forge({})), 'unavailable');
			server.closeAllConnections();
			server.close();
		}
		const { tokens } = tokensOf([row({ jwksUrl: 'http://provider.example.org/jwks' })]);
		assert.equal(await tokens.grantOf(await provider.forge({})), 'unavailable');
		assert.equal(keysRead(), 0);
	});
});

describe('a provider that a site names', () => {
	const byName = (path: string) => `${provider.issuer.replace('127.0.0.1', 'localhost')}${path}`;

	test('is not called at a loopback, link-local or metadata address, by whatever name, unless that is permitted', async () => {
		const elsewhere = targetPolicy([], '0.0.0.0');
		const mapped = `https://[::ffff:127.0.0.1]:${new URL(provider.issuer).port}/jwks`;
		const urls = [`${provider.issuer}/jwks`, byName('/jwks'), 'https://2130706433/jwks', mapped, 'https://169.254.169.254/jwks'];
		for (const jwksUrl of urls) {
			const { tokens } = tokensOf([row({ jwksUrl })], {}, elsewhere);
			assert.equal(await tokens.grantOf(await provider.forge({})), 'unavailable', jwksUrl);
		}
		assert.equal(await tokensOf([row()], {}, elsewhere).tokens.grantOf(await provider.forge({})), 'unavailable');
		const introspected = tokensOf([opaque({ url: byName('/token/introspection') })], {}, elsewhere);
		assert.equal(await introspected.tokens.grantOf('opaque'), 'unavailable');
		assert.deepEqual([...provider.requests], []);
		for (const permitting of [targetPolicy([], '127.0.0.1'), targetPolicy(['127.0.0.0/8', '::1'], '0.0.0.0')]) {
			const { tokens } = tokensOf([row({ jwksUrl: byName('/jwks') })], {}, permitting);
			assert.equal(siteOf(await tokens.grantOf(await provider.forge({}))), 'north');
		}
	});

	test('is not called where its metadata lead, if that is not permitted', async () => {
		const metadata = { issuer: '', jwks_uri: 'https://169.254.169.254/jwks' };
		const server = createServer((_request, response) => response.end(JSON.stringify(metadata)));
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		metadata.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		const lines: string[] = [];
		const log = createLog('warn', { write: (line: string) => void lines.push(line) });
		const { tokens } = tokensOf([row({ issuer: metadata.issuer })], {}, targetPolicy([], '127.0.0.1'), log);
		assert.equal(await tokens.grantOf(await provider.forge({ iss: metadata.issuer })), 'unavailable');
		assert.match(lines.join(), /ALLOWED_TARGETS may permit it/);
		server.closeAllConnections();
		server.close();
	});

	test('that begins an answer and does not end it is not waited for', async () => {
		const server = createServer((_request, response) => response.writeHead(200).write('{"keys":'));
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const { tokens } = tokensOf([row({ jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` })]);
		assert.equal(await tokens.grantOf(await provider.forge({})), 'unavailable');
		server.closeAllConnections();
		server.close();
	});
});

describe('the claims of a token', () => {
	test('decide the site where one issuer serves several', async () => {
		const ofSite = (siteId: string) => row({ siteId, siteSlug: siteId, siteClaim: { name: 'https://claims.test/site', value: siteId } });
		const { tokens } = tokensOf([ofSite('north'), ofSite('south')]);
		const claimed = async (value: unknown) => siteOf(await tokens.grantOf(await provider.forge({ 'https://claims.test/site': value })));
		assert.deepEqual(await Promise.all([['south'], 'north', ['north', 'south'], 'west', undefined, { north: 1 }].map(claimed)), [
			'south',
			'north',
			undefined,
			undefined,
			undefined,
			undefined,
		]);
	});

	test('have the client and the scopes where the issuer says, or where providers usually write them', async () => {
		const given = async (issuer: TokenIssuer, claims: Record<string, unknown>) => {
			const grant = await tokensOf([issuer]).tokens.grantOf(await provider.forge({ client_id: undefined, ...claims }));
			return typeof grant === 'object' ? [grant.keyId, grant.scopes] : grant;
		};
		const expected = [`token:${clientId}`, { whole: { Patient: 'rs' }, parts: [] }];
		assert.deepEqual(await given(row(), { azp: clientId, scp: ['system/Patient.rs'] }), expected);
		assert.deepEqual(await given(row(), { appid: clientId, scope: 'openid system/Patient.rs' }), expected);
		const own = row({ clientClaim: 'sub', scopeClaim: 'roles' });
		assert.deepEqual(await given(own, { sub: clientId, roles: ['system/Patient.read'], scope: 'system/*.cruds' }), expected);
		assert.equal(await given(own, { client_id: clientId }), undefined);
	});

	test('count for a little longer than they say, because clocks differ', async () => {
		const { tokens } = tokensOf([row()]);
		const now = Math.floor(Date.now() / 1000);
		const skew = limits.tokenSkewMsMax / 1000;
		const seen = async (claims: object) => siteOf(await tokens.grantOf(await provider.forge({ ...claims })));
		assert.equal(await seen({ exp: now - skew + 10 }), 'north');
		assert.equal(await seen({ exp: now - skew - 1 }), undefined);
		assert.equal(await seen({ nbf: now + skew - 1 }), 'north');
		assert.equal(await seen({ nbf: now + skew + 10 }), undefined);
		assert.equal(await seen({ exp: '9999999999' }), undefined);
	});

	test('of a token that was checked are judged by the issuers of the moment', async () => {
		const { tokens, directory } = tokensOf([row()]);
		const token = await provider.forge({});
		assert.equal(siteOf(await tokens.grantOf(token)), 'north');
		directory.issuers = [row({ clients: new Set(['another']) })];
		assert.equal(await tokens.grantOf(token), undefined);
		directory.certain = false;
		assert.equal(await tokens.grantOf(token), 'unavailable');
	});

	test('are not asked for beyond what is remembered: the oldest token is checked again', async () => {
		const { tokens } = tokensOf([row()], { tokensCheckedMax: 2 });
		const [first, ...others] = await Promise.all(['1', '2', '3'].map((jti) => provider.forge({ jti })));
		for (const token of [first, ...others]) await tokens.grantOf(token ?? '');
		assert.ok(tokens.grantOf(first ?? '') instanceof Promise);
		assert.ok(!(tokens.grantOf(others[1] ?? '') instanceof Promise));
	});
});

describe('an opaque token', () => {
	test('is introspected, and what the provider says is kept for a moment', async () => {
		const { tokens, clock } = tokensOf([row({ id: 'jwt' }), opaque()]);
		const token = await provider.token('system/*.rs', { audience: opaqueAudience });
		const [grant] = await Promise.all([tokens.grantOf(token), tokens.grantOf(token)]);
		assert.deepEqual(grant, {
			keyId: `token:${clientId}`,
			siteId: 'north',
			siteSlug: 'north',
			settings: {},
			scopes: { whole: { '*': 'rs' }, parts: [] },
		});
		await provider.revoke(token);
		assert.equal(siteOf(await tokens.grantOf(token)), 'north');
		assert.equal(asked(), 1);
		clock.ahead = limits.tokenCheckedMsMax + 1;
		assert.equal(await tokens.grantOf(token), undefined);
		assert.equal(await tokens.grantOf(token), undefined);
		assert.equal(asked(), 2);
	});

	test('that the provider does not know, or that is for another audience, is refused', async () => {
		const { tokens } = tokensOf([opaque()]);
		assert.equal(await tokens.grantOf('invented'), undefined);
		const elsewhere = tokensOf([{ ...opaque(), audience: 'other' }]);
		assert.equal(await elsewhere.tokens.grantOf(await provider.token('system/*.rs', { audience: opaqueAudience })), undefined);
	});

	test('is not called wrong while nobody can say: the provider is away, or refuses this service, or too many wait', async () => {
		assert.equal(await tokensOf([opaque({ clientSecret: 'wrong' })]).tokens.grantOf('a-token'), 'unavailable');
		provider.mode = 'hangs';
		const { tokens } = tokensOf([opaque()], { tokenIntrospectionsMax: 1 });
		const [first, second] = ['a-token', 'another'].map((token) => tokens.grantOf(token));
		assert.equal(await second, 'unavailable');
		assert.equal(await first, 'unavailable');
		assert.equal(asked(), 2);
	});

	test('is shown to no provider where there is more than one, or none', async () => {
		for (const issuers of [
			[row()],
			[opaque(), { ...opaque(), introspection: { url: 'https://x.test/', clientId: 'a', clientSecret: 'b' } }],
		])
			assert.equal(await tokensOf(issuers).tokens.grantOf('opaque'), undefined);
		assert.equal(asked(), 0);
	});
});
