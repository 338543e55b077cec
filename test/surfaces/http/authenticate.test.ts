import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AccessDirectory, KeyGrant } from '#access/directory.ts';
import { Failure } from '#core/failure.ts';
import { authenticate } from '#surfaces/http/authenticate.ts';
import { createMetrics, metricDefinitions } from '../../../src/metrics.ts';
import { raw } from './raw.ts';
import { serve } from './serving.ts';

const siteId = '0199c0de-0000-7000-8000-000000000002';
const grant: KeyGrant = { keyId: 'key1', siteId, siteSlug: 'west', settings: {} };

function directoryOf(answer: (header: string | undefined) => ReturnType<AccessDirectory['grantOfKey']>): AccessDirectory {
	return { grantOfKey: answer, mayConnect: () => false, matchSender: () => ({ kind: 'no-address' }) };
}

const only = directoryOf((header) => (header === 'good' ? grant : undefined));

function asked(directory: AccessDirectory, key?: string) {
	const metrics = createMetrics({ processMetrics: false });
	const refusals = async () => {
		const { values = [] } = (await metrics.registry.getSingleMetric(metricDefinitions.accessRefusals.name)?.get()) ?? {};
		return values.reduce((sum, { value }) => sum + value, 0);
	};
	return { ask: () => authenticate({ directory, metrics }, { header: () => key, caller: {} }), refusals };
}

describe('the key of a request', () => {
	test('gives its grant', async () => {
		const { ask, refusals } = asked(only, 'good');
		assert.equal(ask(), grant);
		assert.equal(await refusals(), 0);
	});

	for (const key of [undefined, 'bad']) {
		test(`is refused and counted when it is ${key ?? 'missing'}`, async () => {
			const { ask, refusals } = asked(only, key);
			assert.throws(ask, (error) => error instanceof Failure && error.code === 'unauthenticated');
			assert.equal(await refusals(), 1);
		});
	}

	test('is not called wrong when it cannot be looked up: the caller is to come again', async () => {
		const { ask, refusals } = asked(
			directoryOf(() => 'unavailable'),
			'good',
		);
		assert.throws(ask, (error) => error instanceof Failure && error.code === 'unavailable' && (error.retryAfterSeconds ?? 0) > 0);
		assert.equal(await refusals(), 0);
	});

	for (const keys of [
		['good', 'bad'],
		['bad', 'good'],
		['good', 'good'],
	]) {
		test(`is none where two headers stand: ${keys.join(' and ')}`, async (t) => {
			const metrics = createMetrics({ processMetrics: false });
			const handle = (request: Parameters<typeof authenticate>[1]) => ({
				status: 200,
				body: authenticate({ directory: only, metrics }, request).keyId,
			});
			const server = await serve([{ method: 'GET', pattern: '/who', handle }]);
			t.after(() => server.close(0));
			const get = (given: readonly string[]) =>
				raw(server.port, `GET /who HTTP/1.1\r\nHost: x\r\n${given.map((key) => `X-API-Key: ${key}\r\n`).join('')}\r\n`, /\r\n\r\n/);
			assert.match(await get(['good']), /^HTTP\/1\.1 200 /);
			assert.match(await get(keys), /^HTTP\/1\.1 401 /);
		});
	}
});
