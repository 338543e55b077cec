import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KeyGrant } from '#access/directory.ts';
import type { TokenGrant } from '#access/tokens/tokens.ts';
import { Failure } from '#core/failure.ts';
import { authorize, challengeOf } from '#surfaces/http/authorize.ts';
import { createMetrics, metricDefinitions } from '../../../src/metrics.ts';

const grant: KeyGrant = {
	keyId: 'token:client',
	siteId: 'west',
	siteSlug: 'west',
	settings: {},
	scopes: { whole: { '*': 'rs' }, parts: [] },
};

function asked(headers: Record<string, string>, found: TokenGrant | Promise<TokenGrant>, areTaken = true) {
	const metrics = createMetrics({ processMetrics: false });
	const seen: string[] = [];
	const tokens = {
		areTaken,
		grantOf: (token: string) => {
			seen.push(token);
			return found;
		},
	};
	const directory = { grantOfKey: () => undefined, mayConnect: () => false, matchSender: () => ({ kind: 'no-address' as const }) };
	const request = { header: (name: string) => headers[name], caller: {} };
	const refusals = async () =>
		(await metrics.registry.getSingleMetric(metricDefinitions.accessRefusals.name)?.get())?.values
			.filter(({ value }) => value > 0)
			.map(({ labels }) => labels['reason']);
	return { ask: async () => authorize({ directory, tokens, metrics }, request), seen, refusals };
}

const failsWith = (code: string) => (error: unknown) => error instanceof Failure && error.code === code;

describe('the access token of a request', () => {
	for (const scheme of ['Bearer', 'bearer', 'BEARER '])
		test(`is read behind '${scheme}', checked at once or later`, async () => {
			for (const found of [grant, Promise.resolve(grant)]) {
				const { ask, seen } = asked({ authorization: `${scheme} a.b.c` }, found);
				assert.equal(await ask(), grant);
				assert.deepEqual(seen, ['a.b.c']);
			}
		});

	for (const authorization of ['', 'Bearer', 'Bearer ', 'Bearer a b', 'Basic YTpi', 'a.b.c', 'Bearer a, Bearer b'])
		test(`is none in '${authorization}'`, async () => {
			const { ask, seen, refusals } = asked({ authorization }, grant);
			await assert.rejects(ask, failsWith('unauthenticated'));
			assert.deepEqual([seen, await refusals()], [[], ['token']]);
		});

	test('is refused and counted when nobody vouches for it', async () => {
		for (const found of [undefined, Promise.resolve(undefined)]) {
			const { ask, refusals } = asked({ authorization: 'Bearer x' }, found);
			await assert.rejects(ask, (error) => {
				assert.ok(error instanceof Failure);
				assert.deepEqual(challengeOf(error), { 'WWW-Authenticate': 'X-API-Key, Bearer error="invalid_token"' });
				return error.code === 'unauthenticated';
			});
			assert.deepEqual(await refusals(), ['token']);
		}
	});

	test('is not called wrong while its provider is away: the caller is to come again', async () => {
		const { ask, refusals } = asked({ authorization: 'Bearer x' }, Promise.resolve('unavailable' as const));
		await assert.rejects(ask, (error) => failsWith('unavailable')(error) && Number((error as Failure).retryAfterSeconds) > 0);
		assert.deepEqual(await refusals(), []);
	});

	test('means nothing where no site takes tokens: the key is asked for, and is found beside what a proxy wrote', async () => {
		for (const headers of [{ authorization: 'Bearer x' }, { authorization: 'Basic YTpi', 'x-api-key': 'wrong' }]) {
			const { ask, seen, refusals } = asked(headers, grant, false);
			await assert.rejects(ask, (error) => {
				assert.ok(error instanceof Failure);
				assert.deepEqual(challengeOf(error), { 'WWW-Authenticate': 'X-API-Key' });
				return error.code === 'unauthenticated';
			});
			assert.deepEqual([seen, await refusals()], [[], ['key']]);
		}
	});

	test('does not stand beside an API key', async () => {
		const { ask, seen } = asked({ authorization: 'Bearer x', 'x-api-key': 'key' }, grant);
		await assert.rejects(ask, failsWith('invalid'));
		assert.deepEqual(seen, []);
	});
});
