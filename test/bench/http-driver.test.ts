import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { figures, httpDrivers, type LoadRequest } from '../../bench/load/http-driver.ts';

/** Notes what it is sent, and refuses what has no body. */
async function listening(t: TestContext) {
	const received: { path: string; key: string; type: string; body: string }[] = [];
	const server = createServer(async (request, response) => {
		let body = '';
		for await (const chunk of request) body += chunk;
		const { 'x-api-key': key, 'content-type': type = '' } = request.headers;
		received.push({ path: request.url ?? '', key: String(key), type, body });
		response.writeHead(body === '' ? 400 : 200).end('answer');
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.after(() => server.close());
	return { received, port: (server.address() as AddressInfo).port };
}

const requests = (body: string | undefined) =>
	Array.from({ length: 8 }, (_, index): LoadRequest => ({ method: 'POST', path: `/${index}`, ...(body === undefined ? {} : { body }) }));

for (const driver of httpDrivers()) {
	test(`${driver.name} sends every request with its body, key and type, and counts answers`, async (t) => {
		const { received, port } = await listening(t);
		const load = { port, key: 'secret', requests: requests('a|b\rc'), connections: 4, seconds: 1, contentType: 'text/plain' };
		const result = await driver.run(load);
		assert.deepEqual(new Set(received.map(({ path }) => path)).size, 8);
		for (const { key, type, body } of received) assert.deepEqual([key, type, body], ['secret', 'text/plain', 'a|b\rc']);
		assert.equal(result.failed, 0);
		assert.ok(result.accepted > 0 && result.accepted <= received.length);
		assert.ok(result.perSecond > 0 && result.p50Ms <= result.p99Ms && result.driverShare >= 0);
	});

	test(`${driver.name} counts what is refused`, async (t) => {
		const { port } = await listening(t);
		const load = { port, key: 'secret', requests: requests(undefined), connections: 2, seconds: 1, contentType: 'text/plain' };
		const { accepted, failed } = await driver.run(load);
		assert.ok(accepted === 0 && failed > 0);
	});
}

test('a line says when the driver is the limit, and what failed', () => {
	const result = { perSecond: 1234.5, p50Ms: 1, p99Ms: 2.345, accepted: 1, failed: 0, driverShare: 0.5 };
	assert.equal(figures(result), '  1235/s  p50 1.00 ms  p99 2.35 ms  driver 50 %');
	assert.match(figures({ ...result, failed: 3, driverShare: 0.93 }), /driver 93 % \(THE LIMIT\) {2}3 FAILED$/);
});
