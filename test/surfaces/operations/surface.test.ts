import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { silentLog } from '#core/log.ts';
import type { HttpServer } from '#surfaces/http/server.ts';
import { createOperationsSurface } from '#surfaces/operations/surface.ts';
import { defaultLimits } from '../../../src/limits.ts';
import { createMetrics } from '../../../src/metrics.ts';

describe('the operations surface', () => {
	const states = { database: true, workers: true };
	let draining = false;
	let server: HttpServer;
	const get = (path: string, headers: Record<string, string> = {}) => fetch(`http://127.0.0.1:${server.port}${path}`, { headers });

	before(async () => {
		const checks = [
			{ name: 'database', up: () => states.database },
			{ name: 'workers', up: () => states.workers },
		];
		const metrics = createMetrics({ processMetrics: false });
		metrics.mllpFrames.inc(7);
		const context = { checks, draining: () => draining, limits: defaultLimits, metrics, log: silentLog };
		server = await createOperationsSurface(context, { host: '127.0.0.1', port: 0 });
	});
	after(() => server.close(0));

	test('ready is 503 until every check is up, and names each', async () => {
		states.database = false;
		const down = await get('/health/ready');
		assert.equal(down.status, 503);
		assert.deepEqual(await down.json(), { status: 'not ready', checks: { database: 'down', workers: 'up' } });
		states.database = true;
		const up = await get('/health/ready');
		assert.equal(up.status, 200);
		assert.equal(up.headers.get('cache-control'), 'no-store');
		assert.deepEqual(await up.json(), { status: 'ready', checks: { database: 'up', workers: 'up' } });
	});

	test('ready is 503 while draining, live is not', async () => {
		draining = true;
		const ready = await get('/health/ready');
		assert.equal(ready.status, 503);
		assert.deepEqual(await ready.json(), { status: 'draining', checks: { database: 'up', workers: 'up' } });
		assert.equal((await get('/health/live')).status, 200);
		draining = false;
	});

	test('metrics come as Prometheus text, and as OpenMetrics when that is accepted', async () => {
		const text = await get('/metrics');
		assert.match(text.headers.get('content-type') ?? '', /^text\/plain/);
		assert.match(await text.text(), /^# TYPE tributary_mllp_frames_total counter\ntributary_mllp_frames_total 7$/m);
		const open = await get('/metrics', { Accept: 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5' });
		assert.match(open.headers.get('content-type') ?? '', /^application\/openmetrics-text/);
		assert.match(await open.text(), /^# TYPE tributary_mllp_frames counter\ntributary_mllp_frames_total 7$/m);
	});

	test('its own requests are counted by route', async () => {
		await get('/health/live');
		assert.match(
			await (await get('/metrics')).text(),
			/tributary_http_requests_total\{surface="operations",route="\/health\/live",status="2xx"\} [1-9]/,
		);
	});

	test('other paths are 404, other methods 405', async () => {
		assert.equal((await get('/fhir/metadata')).status, 404);
		const posted = await fetch(`http://127.0.0.1:${server.port}/metrics`, { method: 'POST' });
		assert.equal(posted.status, 405);
		assert.equal(posted.headers.get('allow'), 'GET, HEAD');
	});
});
