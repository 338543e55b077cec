import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { silentLog } from '#core/log.ts';
import type { Route } from '#surfaces/http/message.ts';
import { createHttpServer, type HttpServer } from '#surfaces/http/server.ts';
import { defaultLimits } from '../../../src/limits.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { raw } from './raw.ts';

const limits = { ...defaultLimits, httpBodyBytesMax: 1000, httpRequestsMax: 4 };
let release: () => void = () => {};

const routes: Route[] = [
	{ method: 'GET', pattern: '/plain', handle: () => ({ status: 200, body: 'plain text' }) },
	{ method: 'GET', pattern: '/thing/:id', handle: (request) => ({ status: 200, body: `${request.params['id']}?${request.query}` }) },
	{
		method: 'POST',
		pattern: '/echo',
		handle: async (request) => ({ status: 200, headers: { 'Content-Type': 'text/plain' }, body: request.body }),
	},
	{ method: 'GET', pattern: '/source', handle: (request) => ({ status: 200, body: `${request.source} ${request.secure}` }) },
	{ method: 'GET', pattern: '/origin', handle: (request) => ({ status: 200, body: request.origin }) },
	{
		method: 'GET',
		pattern: '/refused',
		handle: () => Promise.reject(new Failure('unprocessable', 'PID-3 is missing', { retryAfterSeconds: 7 })),
	},
	{ method: 'GET', pattern: '/broken', handle: () => Promise.reject(new Error('secret detail')) },
	{
		method: 'GET',
		pattern: '/slow',
		handle: () =>
			new Promise((resolve) => {
				release = () => resolve({ status: 200, body: 'slow' });
			}),
	},
];

async function start(trustedProxies: string[] = []): Promise<HttpServer> {
	return createHttpServer({
		name: 'fhir',
		host: '127.0.0.1',
		port: 0,
		trustedProxies,
		publicOrigin: { hosts: ['fhir.example.org'] },
		limits,
		metrics: createMetrics({ processMetrics: false }),
		log: silentLog,
		routes,
		renderFailure: (failure) => ({
			status: 500,
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify({ code: failure.code, error: failure.diagnostics }),
		}),
	});
}

describe('HTTP server', () => {
	let server: HttpServer;
	let base: string;
	before(async () => {
		server = await start();
		base = `http://127.0.0.1:${server.port}`;
	});
	after(() => server.close(100));

	test('answers a route with its parameters, the raw query and a request id', async () => {
		const answer = await fetch(`${base}/thing/a%20b?x=1&y=%20`);
		assert.equal(answer.status, 200);
		assert.equal(await answer.text(), 'a b?x=1&y=%20');
		assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
	});

	test('echoes a sane request id and replaces any other', async () => {
		const sane = await fetch(`${base}/plain`, { headers: { 'X-Request-Id': 'abc-1' } });
		assert.equal(sane.headers.get('x-request-id'), 'abc-1');
		const odd = await fetch(`${base}/plain`, { headers: { 'X-Request-Id': 'a b<c' } });
		assert.notEqual(odd.headers.get('x-request-id'), 'a b<c');
	});

	test('answers 404 for an unknown path, also one that is not valid percent-encoding', async () => {
		for (const path of ['/nowhere', '/thing/', '/plain/', '/thing/%E0%A4%A']) {
			const answer = await raw(server.port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, /\r\n\r\n.+/);
			assert.match(answer, /^HTTP\/1\.1 404 /, path);
		}
	});

	test('answers 405 with Allow for another method', async () => {
		const answer = await fetch(`${base}/plain`, { method: 'DELETE' });
		assert.equal(answer.status, 405);
		assert.equal(answer.headers.get('allow'), 'GET, HEAD');
		assert.equal(((await answer.json()) as { code: string }).code, 'method-not-allowed');
	});

	test('answers HEAD like GET, without the body', async () => {
		const answer = await fetch(`${base}/plain`, { method: 'HEAD' });
		assert.equal(answer.status, 200);
		assert.equal(answer.headers.get('content-length'), '10');
		assert.equal(await answer.text(), '');
	});

	test('gives a body that came in pieces whole', async () => {
		const answer = await raw(server.port, ['POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc', 'def', 'ghi'], /abcdefghi$/);
		assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
		assert.match(answer, /abcdefghi$/);
	});

	test('takes a chunked body', async () => {
		const answer = await raw(
			server.port,
			'POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n',
			/abcdef$/,
		);
		assert.match(answer, /abcdef$/);
	});

	test('answers 413 by Content-Length before reading, and while reading a chunked body', async () => {
		const announced = await raw(server.port, 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc');
		assert.match(announced, /^HTTP\/1\.1 413 /);
		const chunk = `190\r\n${'x'.repeat(400)}\r\n`;
		const streamed = await raw(server.port, ['POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n', chunk, chunk, chunk]);
		assert.match(streamed, /^HTTP\/1\.1 413 /);
	});

	test('refuses a request whose Content-Length stands twice, and closes: what follows is no second request', async () => {
		const answer = await raw(
			server.port,
			'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcGET /plain HTTP/1.1\r\nHost: x\r\n\r\n',
		);
		assert.doesNotMatch(answer, /plain text/);
		const alone = await raw(server.port, 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabc');
		assert.match(alone, /^HTTP\/1\.1 400 /);
		assert.match(alone, /Content-Length is given more than once/);
	});

	test('refuses Content-Length together with Transfer-Encoding', async () => {
		const answer = await raw(
			server.port,
			'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
		);
		assert.match(answer, /^HTTP\/1\.1 400 /);
	});

	test('renders a failure with its status and Retry-After, and a bug without its text', async () => {
		const refused = await fetch(`${base}/refused`);
		assert.equal(refused.status, 422);
		assert.equal(refused.headers.get('retry-after'), '7');
		assert.deepEqual(await refused.json(), { code: 'unprocessable', error: 'PID-3 is missing' });
		const broken = await fetch(`${base}/broken`);
		assert.equal(broken.status, 500);
		assert.doesNotMatch(await broken.text(), /secret/);
	});

	test('ignores X-Forwarded-For of a peer that is no trusted proxy', async () => {
		const answer = await fetch(`${base}/source`, { headers: { 'X-Forwarded-For': '9.9.9.9', 'X-Forwarded-Proto': 'https' } });
		assert.equal(await answer.text(), '127.0.0.1 false');
	});

	test('believes of X-Forwarded-For only what the trusted proxies added', async () => {
		const behind = await start(['127.0.0.0/8', '10.0.0.0/8']);
		const answer = await fetch(`http://127.0.0.1:${behind.port}/source`, {
			headers: { 'X-Forwarded-For': '6.6.6.6, 9.9.9.9, 10.1.1.1', 'X-Forwarded-Proto': 'https' },
		});
		assert.equal(await answer.text(), '9.9.9.9 true');
		await behind.close(100);
	});

	test('believes no header of the PROXY protocol, whoever sends it: version 2 is passed over, version 1 refused', async () => {
		const behind = await start(['127.0.0.0/8']);
		const request = 'GET /source HTTP/1.1\r\nHost: x\r\n\r\n';
		// The signature, PROXY over TCP4, twelve bytes: from 10.9.9.9 to 127.0.0.1.
		const second = '\r\n\r\n\0\r\nQUIT\n!\u0011\0\u000c\n\t\t\t\u007f\0\0\u0001\0\u0001\0\u0002';
		assert.match(await raw(behind.port, `${second}${request}`, /(?:true|false)$/), /\r\n\r\n127\.0\.0\.1 false$/);
		assert.match(await raw(behind.port, `PROXY TCP4 10.9.9.9 127.0.0.1 1 2\r\n${request}`), /^HTTP\/1\.1 (?:400|505) /);
		await behind.close(100);
	});

	test('links to a listed host with https when the trusted proxy was reached over TLS', async () => {
		const behind = await start(['127.0.0.0/8']);
		for (const [port, scheme] of [
			[behind.port, 'https'],
			[server.port, 'http'],
		] as const) {
			const head = 'GET /origin HTTP/1.1\r\nHost: fhir.example.org\r\nX-Forwarded-Proto: https\r\n\r\n';
			assert.match(await raw(port, head, /org$/), new RegExp(`\\r\\n\\r\\n${scheme}://fhir\\.example\\.org$`));
		}
		await behind.close(100);
	});

	test('answers 503 with Retry-After when too many requests are in progress', async () => {
		const waiting: Promise<Response>[] = [];
		const releases: (() => void)[] = [];
		for (let index = 0; index < limits.httpRequestsMax; index++) {
			const known = release;
			waiting.push(fetch(`${base}/slow`));
			while (release === known) await new Promise((resolve) => setImmediate(resolve));
			releases.push(release);
		}
		const refused = await fetch(`${base}/plain`);
		assert.equal(refused.status, 503);
		assert.equal(refused.headers.get('retry-after'), '1');
		for (const go of releases) go();
		for (const answer of await Promise.all(waiting)) assert.equal(answer.status, 200);
	});

	test('survives a sender that goes away before its answer', async () => {
		const known = release;
		const socket = connect(server.port, '127.0.0.1');
		socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
		while (release === known) await new Promise((resolve) => setImmediate(resolve));
		const gone = new Promise((resolve) => socket.once('close', resolve));
		socket.destroy();
		await gone;
		await new Promise((resolve) => setTimeout(resolve, 50));
		release();
		assert.equal((await fetch(`${base}/plain`)).status, 200);
	});

	test('finishes what is under way when it closes', async () => {
		const closing = await start();
		const known = release;
		const answer = fetch(`http://127.0.0.1:${closing.port}/slow`);
		while (release === known) await new Promise((resolve) => setImmediate(resolve));
		const closed = closing.close(5000);
		release();
		assert.equal(await (await answer).text(), 'slow');
		await closed;
		await assert.rejects(fetch(`http://127.0.0.1:${closing.port}/plain`));
	});

	test('says which port is taken', async () => {
		await assert.rejects(
			createHttpServer({
				name: 'fhir',
				host: '203.0.113.1',
				port: 0,
				trustedProxies: [],
				limits,
				metrics: createMetrics({ processMetrics: false }),
				log: silentLog,
				routes,
				renderFailure: () => ({ status: 500 }),
			}),
			/the fhir surface cannot listen on 203\.0\.113\.1:0/,
		);
	});
});
