import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { KeyGrant } from '#access/directory.ts';
import { Failure } from '#core/failure.ts';
import type { AnyRoute, HttpRequest } from '#surfaces/http/message.ts';
import type { HttpServer } from '#surfaces/http/server.ts';
import { eventually } from '#test/support/eventually.ts';
import { defaultLimits, limitsOfProcess } from '../../../src/limits.ts';
import { createMetrics, metricDefinitions } from '../../../src/metrics.ts';
import { raw } from './raw.ts';
import { serve } from './serving.ts';

/** `a1` is a key of the site `a`; `later-a1` is one that is found out a moment later, as access tokens are. */
function admit({ header }: Pick<HttpRequest, 'header'>): KeyGrant | Promise<KeyGrant> {
	const key = header('x-api-key') ?? '';
	const [, isLate, id = '', site = ''] = /^(later-)?((\w)\d)$/.exec(key) ?? [];
	if (isLate) return new Promise((resolve) => setImmediate(resolve, grantOf(id, site)));
	if (key === 'later-wrong') return new Promise((_, reject) => setImmediate(reject, refused()));
	if (site === '') throw refused();
	return grantOf(id, site);
}

function grantOf(keyId: string, siteId: string): KeyGrant {
	return { keyId, siteId, siteSlug: siteId, settings: {} };
}

function refused(): Failure {
	return new Failure('unauthenticated', 'a valid API key is required');
}

/** Requests that wait for their answers. */
let held: (() => void)[] = [];

const routes: AnyRoute[] = [
	{ method: 'POST', pattern: '/echo', handle: ({ body }) => ({ status: 200, body }) },
	{
		method: 'POST',
		pattern: '/stream',
		streams: true,
		bytesMax: 1_000_000,
		handle: async (request) => {
			await admit(request);
			let bytes = 0;
			for await (const chunk of request.body) bytes += chunk.length;
			return { status: 200, body: String(bytes) };
		},
	},
	{
		method: 'GET',
		pattern: '/wait',
		handle: () => new Promise((resolve) => held.push(() => resolve({ status: 200, body: 'waited' }))),
	},
	{ method: 'GET', pattern: '/open', isOpen: true, handle: () => ({ status: 200, body: 'open' }) },
];

const limits = {
	httpBodyBytesMax: 100_000,
	httpRequestsMax: 8,
	httpKeyRequestsMax: 2,
	httpSiteRequestsMax: 3,
	httpAddressRequestsMax: 5,
	httpKeyWaitingBytesMax: 100_000,
	httpSiteWaitingBytesMax: 150_000,
	httpAddressWaitingBytesMax: 250_000,
};

describe('a request', () => {
	const metrics = createMetrics({ processMetrics: false });
	const sockets: Socket[] = [];
	let server: HttpServer;
	before(async () => {
		server = await serve(routes, limits, { admit, metrics, trustedProxies: ['127.0.0.1'] });
	});
	after(() => server.close(0));

	function get(path: string, key: string, headers: Record<string, string> = {}): Promise<Response> {
		return fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { 'X-API-Key': key, ...headers } });
	}

	/** Begins an upload whose body does not end. */
	async function stall(key: string, path: string, length: number, sent: number, from = '192.0.2.1'): Promise<() => string> {
		const socket = connect(server.port, '127.0.0.1');
		sockets.push(socket);
		let answer = '';
		socket.on('data', (chunk) => {
			answer += chunk.toString('latin1');
		});
		socket.on('error', () => undefined);
		const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nX-API-Key: ${key}\r\nContent-Length: ${length}\r\n\r\n`;
		await new Promise<void>((resolve) => socket.write(head + 'x'.repeat(sent), () => resolve()));
		return () => answer;
	}

	function endAll(): void {
		for (const socket of sockets.splice(0)) socket.destroy();
		for (const release of held.splice(0)) release();
		held = [];
	}

	/** Asks until nothing of the requests before counts any more. */
	async function settled(): Promise<void> {
		endAll();
		await eventually(async () => (await fetchEcho('a1', 'x'.repeat(90_000))) === 200, 'room');
	}

	async function fetchEcho(key: string, body: string, from = '192.0.2.1'): Promise<number> {
		const headers = { 'X-API-Key': key, 'X-Forwarded-For': from };
		const answer = await fetch(`http://127.0.0.1:${server.port}/echo`, { method: 'POST', headers, body });
		await answer.text();
		return answer.status;
	}

	async function refusals(holder: string, of: string): Promise<number> {
		const { values = [] } = (await metrics.registry.getSingleMetric(metricDefinitions.httpShareRefusals.name)?.get()) ?? {};
		return values.filter(({ labels }) => labels['holder'] === holder && labels['of'] === of).reduce((sum, { value }) => sum + value, 0);
	}

	for (const path of ['/echo', '/stream']) {
		test(`without a valid key is answered 401 from its head and takes no room, though its body stalls (${path})`, async () => {
			const answers = await Promise.all(Array.from({ length: 3 * limits.httpRequestsMax }, () => stall('no', path, 50_000, 1)));
			assert.equal(await fetchEcho('a1', 'taken'), 200, 'others are answered meanwhile');
			await eventually(() => answers.every((answer) => answer().startsWith('HTTP/1.1 401 ')), 'an answer for each');
			await settled();
		});
	}

	test('with a token that turns out wrong is answered 401 while its body stalls, and gives its room back', async () => {
		const answers = await Promise.all(Array.from({ length: 4 }, () => stall('later-wrong', '/echo', 50_000, 40_000)));
		await eventually(() => answers.every((answer) => answer().startsWith('HTTP/1.1 401 ')), 'an answer for each');
		assert.equal(await fetchEcho('later-a1', 'x'.repeat(90_000)), 200);
		await settled();
	});

	test('that needs no key is answered without one', async () => {
		assert.equal((await get('/open', 'no')).status, 200);
		assert.equal((await get('/wait', 'no')).status, 401);
	});

	test('has a share of the requests by key and by site, and others have theirs', async () => {
		const waiting = [get('/wait', 'a1'), get('/wait', 'a1')];
		await eventually(() => held.length === 2, 'two requests');
		const third = await get('/wait', 'a1');
		assert.deepEqual([third.status, third.headers.get('retry-after')], [429, '1']);
		assert.match(await third.text(), /too many requests of this key are in progress/);
		waiting.push(get('/wait', 'a2'));
		await eventually(() => held.length === 3, 'three requests');
		assert.match(await (await get('/wait', 'a2')).text(), /too many requests of this site are in progress/);
		assert.equal(await fetchEcho('b1', 'another site'), 200);
		assert.deepEqual([await refusals('key', 'requests'), await refusals('site', 'requests')], [1, 1]);
		endAll();
		for (const answer of await Promise.all(waiting)) assert.equal(answer.status, 200);
		await settled();
	});

	test('has a share of the requests by address, of IPv6 by its /64, whatever its keys are', async () => {
		const from = (last: number) => ({ 'X-Forwarded-For': `2001:db8:1:2::${last}` });
		const waiting = ['a1', 'a2', 'b1', 'b2', 'c1'].map((key, index) => get('/wait', key, from(index)));
		await eventually(() => held.length === 5, 'five requests');
		const sixth = await get('/wait', 'd1', from(99));
		assert.equal(sixth.status, 429);
		assert.match(await sixth.text(), /too many requests of this address are in progress/);
		waiting.push(get('/wait', 'd1', { 'X-Forwarded-For': '2001:db8:1:3::1' }));
		await eventually(() => held.length === 6, 'a request of the neighbour');
		endAll();
		for (const answer of await Promise.all(waiting)) assert.equal(answer.status, 200);
		await settled();
	});

	test('has a share of the memory for bodies by key, site and address, by what came and by what is announced', async () => {
		await stall('a1', '/echo', 90_000, 80_000);
		await eventually(async () => (await fetchEcho('a1', 'x'.repeat(30_000))) === 429, 'the share of the key');
		assert.equal(await fetchEcho('a2', 'x'.repeat(30_000)), 200, 'the site has room');
		assert.equal(await fetchEcho('a2', 'x'.repeat(80_000)), 429, 'the site has no room for so much');
		assert.equal(await fetchEcho('b1', 'x'.repeat(90_000)), 200);
		await stall('b1', '/echo', 90_000, 80_000);
		await stall('c1', '/echo', 90_000, 80_000);
		await eventually(async () => (await fetchEcho('d1', 'x'.repeat(50_000))) === 429, 'the share of the address');
		assert.equal(await fetchEcho('d1', 'x'.repeat(50_000), '192.0.2.2'), 200);
		for (const holder of ['key', 'site', 'address']) assert.ok((await refusals(holder, 'bytes')) > 0, holder);
		await settled();
	});

	test('of unknown length is cut off at the share of its key', async () => {
		await stall('a1', '/echo', 90_000, 80_000);
		const chunk = `${(20_000).toString(16)}\r\n${'x'.repeat(20_000)}\r\n`;
		const head = 'POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: a1\r\nTransfer-Encoding: chunked\r\n\r\n';
		await eventually(async () => / 429 /.test(await raw(server.port, `${head}${chunk}${chunk}0\r\n\r\n`, /\r\n\r\n/)), 'a refusal');
		await settled();
	});

	test('of two keys is answered as a wrong key is', async () => {
		const twice = await raw(server.port, 'GET /wait HTTP/1.1\r\nHost: x\r\nX-API-Key: a1\r\nX-API-Key: a1\r\n\r\n', /\}/);
		const wrong = await raw(server.port, 'GET /wait HTTP/1.1\r\nHost: x\r\nX-API-Key: no\r\n\r\n', /\}/);
		const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n'));
		assert.match(twice, /^HTTP\/1\.1 401 /);
		assert.equal(bodyOf(twice), bodyOf(wrong));
	});
});

describe('a process of many', () => {
	// The defaults, with bodies of 100 kB in place of 32 MiB.
	const scaled = Object.fromEntries(
		Object.entries(defaultLimits).map(([name, value]) => [
			name,
			/^http\w*BytesMax$/.test(name) ? Math.round((value / 2 ** 25) * 1e5) : value,
		]),
	);

	for (const count of [1, 3, 8, 16, 64]) {
		test(`has room for others while the bodies of one key, site or address stall: one of ${count}`, async (t) => {
			const part = limitsOfProcess({ ...defaultLimits, ...scaled, httpHeaderBytesMax: 16_384 }, count);
			const server = await serve(routes, part, { admit, trustedProxies: ['127.0.0.1'] });
			t.after(() => server.close(0));
			const sockets: Socket[] = [];
			t.after(() => {
				for (const socket of sockets) socket.destroy();
			});
			const stalled = (key: string, from: string) => {
				const socket = connect(server.port, '127.0.0.1');
				sockets.push(socket);
				socket.on('error', () => undefined);
				const head = `POST /echo HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nX-API-Key: ${key}\r\nContent-Length: 100000\r\n\r\n`;
				return new Promise<void>((resolve) => socket.write(head + 'x'.repeat(99_000), () => resolve()));
			};
			const echo = async (key: string, from: string) => {
				const headers = { 'X-API-Key': key, 'X-Forwarded-For': from };
				const answer = await fetch(`http://127.0.0.1:${server.port}/echo`, { method: 'POST', headers, body: 'x'.repeat(100_000) });
				await answer.text();
				return answer.status;
			};
			// One sender with two keys of a site, from one address, tries to take all there is.
			const tries = Math.ceil(part.httpWaitingBytesMax / 100_000);
			for (let at = 0; at < tries; at++) await Promise.all([stalled('a1', '192.0.2.1'), stalled('a2', '192.0.2.1')]);
			await eventually(async () => (await echo('a1', '192.0.2.9')) === 429, 'the share of the key and its site');
			await eventually(async () => (await echo('b1', '192.0.2.1')) === 429, 'the share of the address');
			assert.equal(await echo('b1', '192.0.2.2'), 200);
		});
	}
});
