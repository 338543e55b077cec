import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { setSite } from '#administration/sites.ts';
import type { DicomWebContext } from '#surfaces/dicomweb/context.ts';
import { dicomWebRoutes } from '#surfaces/dicomweb/routes.ts';
import { type BulkContext, bulkRoutes } from '#surfaces/fhir/bulk.ts';
import type { FhirContext } from '#surfaces/fhir/context.ts';
import { fhirRoutes } from '#surfaces/fhir/routes.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { needs, without } from '#test/support/needs.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { defaultLimits } from '../../../src/limits.ts';
import { cachingProxy } from './caching-proxy.ts';
import { raw } from './raw.ts';

const limits = defaultLimits;

/** The tables of routes read no more of their contexts. */
function given<T>(part: Partial<T>): T {
	return part as T;
}

/** Every route of the origins that ask for a key, by the table from which the product opens them. */
const routes: readonly (readonly [surface: string, method: string, pattern: string])[] = [
	...[
		...fhirRoutes(given<FhirContext>({ publicMetadata: false, limits })),
		...bulkRoutes(given<BulkContext>({ limits })),
		...dicomWebRoutes(given<DicomWebContext>({ limits })),
	].map(({ method, pattern }) => ['fhir', method, pattern] as const),
	['hl7', 'POST', '/v2/ingest'],
	['hl7', 'POST', '/v3/ingest'],
	['mpps', 'POST', '/ingest'],
];

/** A path of the pattern. Most of them lead nowhere, which is an answer too. */
function pathOf(pattern: string): string {
	const values: Record<string, string> = { type: 'Patient', id: 'a', version: '1' };
	return pattern.replace(/:(\w+)/g, (_, name: string) => values[name] ?? '1');
}

describe('answers that depend on a key', () => {
	let service: TestService;
	let north: string;
	let south: string;
	let fhir: FhirCall;
	before(async () => {
		service = await testService({ PUBLIC_HOSTS: 'fhir.example.org', OPERATOR_HOSTS: 'metrics.example.org' });
		north = (await service.addSite('north')).key;
		south = (await service.addSite('south')).key;
		fhir = fhirClient(service, north);
		await fhir('PUT', '/Patient/a', { resourceType: 'Patient', id: 'a', name: [{ family: 'Northern' }] });
	});
	after(() => service[Symbol.asyncDispose]());

	/** Asserts that no cache may keep the answer. */
	function assertUncacheable({ headers, status }: Response, what: string): void {
		assert.equal(headers.get('cache-control'), 'no-store', `${what} ${status}`);
		const vary = (headers.get('vary') ?? '').split(',').map((name) => name.trim());
		for (const name of ['X-API-Key', 'Authorization']) assert.ok(vary.includes(name), `${what} ${status}: ${vary}`);
		assert.equal(headers.get('x-content-type-options'), 'nosniff', what);
		assert.match(headers.get('x-request-id') ?? '', /./, what);
	}

	async function ask(surface: string, method: string, path: string, headers: Record<string, string>): Promise<Response> {
		const body = method === 'GET' || method === 'DELETE' || method === 'HEAD' || method === 'OPTIONS' ? {} : { body: '{}' };
		const answer = await fetch(`http://127.0.0.1:${service.port(surface)}${path}`, { method, headers, ...body });
		await answer.arrayBuffer();
		return answer;
	}

	for (const [surface, method, pattern] of routes) {
		test(`of ${surface} ${method} ${pattern} are kept by no cache, with and without a key`, async () => {
			const path = pathOf(pattern);
			assertUncacheable(await ask(surface, method, path, { 'X-API-Key': north }), `${method} ${path}`);
			const refused = await ask(surface, method, path, {});
			assertUncacheable(refused, `${method} ${path}`);
			// How to get a token is told to whoever asks.
			if (!path.includes('/.well-known/')) assert.equal(refused.status, 401, `${method} ${path}`);
		});
	}

	test('are kept by no cache when they are 304, 404, 405, 406, or to HEAD', async () => {
		const key = { 'X-API-Key': north };
		const expected: [status: number, method: string, path: string, headers: Record<string, string>][] = [
			[304, 'GET', '/fhir/Patient/a', { ...key, 'If-None-Match': 'W/"1"' }],
			[200, 'HEAD', '/fhir/Patient/a', key],
			[404, 'GET', '/fhir/Patient/none', key],
			[404, 'GET', '/nothing', key],
			[405, 'DELETE', '/fhir/metadata', key],
			[406, 'GET', '/fhir/Patient/a', { ...key, Accept: 'application/fhir+xml' }],
			[200, 'GET', '/fhir/Patient/a', { ...key, 'Accept-Encoding': 'gzip' }],
			[204, 'GET', '/dicomweb/studies', { ...key, Accept: 'application/dicom+json' }],
		];
		for (const [status, method, path, headers] of expected) {
			const answer = await ask('fhir', method, path, headers);
			assertUncacheable(answer, `${method} ${path}`);
			if (path !== '/dicomweb/studies') assert.equal(answer.status, status, `${method} ${path}`);
		}
	});

	test('leave alone what needs no key', async () => {
		for (const surface of ['fhir', 'hl7', 'mpps']) {
			const { headers, status } = await ask(surface, 'GET', '/api/documentation', {});
			assert.deepEqual([status, headers.get('cache-control')], [200, null], surface);
		}
	});

	test('are not given to others by a shared cache, nor later than they hold', async (t) => {
		const proxy = await cachingProxy(service.port('fhir'));
		t.after(() => proxy.close());
		const read = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${proxy.port}/fhir/Patient/a`, { headers });
		const family = async (answer: Response) => ((await answer.json()) as { name: [{ family: string }] }).name[0].family;
		assert.equal(await family(await read({ 'X-API-Key': north })), 'Northern');
		assert.equal((await read({ 'X-API-Key': south })).status, 404);
		assert.equal((await read({})).status, 401);
		await fhir('PUT', '/Patient/a', { resourceType: 'Patient', id: 'a', name: [{ family: 'Renamed' }] });
		assert.equal(await family(await read({ 'X-API-Key': north })), 'Renamed');
		// The proxy does keep what it may.
		for (let round = 0; round < 2; round++) await fetch(`http://127.0.0.1:${proxy.port}/api/documentation/page.css`);
		assert.equal(proxy.hits(), 1);
	});

	test('are in the words of the surface when the transport fails', async () => {
		for (const [surface, path, worded] of [
			['fhir', '/fhir/Patient', /^\{"resourceType":"OperationOutcome","issue":\[\{"severity":"error","code":"too-long",/],
			['fhir', '/dicomweb/nothing', /^\{"success":false,"error":/],
			['hl7', '/v2/ingest', /^\{"success":false,"error":/],
			['mpps', '/ingest', /^\{"success":false,"error":/],
		] as const) {
			const url = `http://127.0.0.1:${service.port(surface)}${path}`;
			const long = await fetch(url, { method: 'POST', headers: { 'X-API-Key': north, A: 'a'.repeat(20_000) } });
			assertUncacheable(long, path);
			assert.equal(long.status, 431, path);
			assert.match(await long.text(), worded);
			const body = Buffer.alloc(limits.httpBodyBytesMax + 1, ' ');
			const large = await fetch(url, { method: 'POST', headers: { 'X-API-Key': north }, body });
			assertUncacheable(large, path);
			assert.equal(large.status, path === '/dicomweb/nothing' ? 404 : 413, path);
			assert.match(await large.text(), path === '/dicomweb/nothing' ? /"success":false/ : worded);
		}
	});

	test('are 401 from the head alone where the key is wrong: the body may never come', async () => {
		for (const [surface, path] of [
			['fhir', '/fhir/Patient'],
			['fhir', '/dicomweb/studies'],
			['fhir', '/fhir/$import'],
			['hl7', '/v2/ingest'],
			['hl7', '/v3/ingest'],
			['mpps', '/ingest'],
		] as const) {
			const head = `POST ${path} HTTP/1.1\r\nHost: h\r\nX-API-Key: no\r\nContent-Length: 30000000\r\n\r\n`;
			assert.match(await raw(service.port(surface), `${head}{`, /\}$/), /^HTTP\/1\.1 401 /, path);
		}
	});

	test('to searches by hundreds of ids in the URL are given', async () => {
		const ids = ['a', ...Array.from({ length: 400 }, (_, index) => `0190f0f0-0000-7000-8000-${String(index).padStart(12, '0')}`)];
		const { status, body } = await fhir('GET', `/Patient?_id=${ids.join()}`);
		assert.deepEqual([status, body.total], [200, 1]);
	});

	test('are 401 when the key stands twice, on every origin', async () => {
		for (const [surface, request] of [
			['fhir', 'GET /fhir/Patient/a HTTP/1.1\r\n'],
			['hl7', 'POST /v2/ingest HTTP/1.1\r\nContent-Length: 0\r\n'],
			['mpps', 'POST /ingest HTTP/1.1\r\nContent-Length: 0\r\n'],
		] as const) {
			const key = `X-API-Key: ${north}\r\n`;
			const answer = await raw(service.port(surface), `${request}Host: h\r\n${key}${key}\r\n`, /\}$/);
			assert.match(answer, /^HTTP\/1\.1 401 /, surface);
			assert.match(answer, surface === 'fhir' ? /"resourceType":"OperationOutcome"/ : /"success":false/, surface);
			assert.match(answer, /\r\nX-Request-Id: /, surface);
		}
	});

	test('link to configured hosts only', async () => {
		const key = `X-API-Key: ${north}\r\n`;
		const own = `http://127.0.0.1:${service.port('fhir')}`;
		const patient = '{"resourceType":"Patient","id":"linked"}';
		const json = `Content-Type: application/fhir+json\r\nContent-Length: ${patient.length}\r\n`;
		const asked: [surface: string, request: string, body: string][] = [
			['fhir', 'GET /fhir/Patient?_count=1', ''],
			['fhir', 'GET /fhir/Patient/a/_history', ''],
			['fhir', 'GET /fhir/metadata', ''],
			['fhir', `PUT /fhir/Patient/linked`, patient],
			['fhir', 'GET /fhir/$export', ''],
			['fhir', 'GET /api/documentation/openapi.json', ''],
			['hl7', 'GET /api/documentation/openapi.json', ''],
			['mpps', 'GET /api/documentation/openapi.json', ''],
			['admin', 'GET /api/documentation/openapi.json', ''],
		];
		for (const [surface, request, body] of asked) {
			const more = `${key}Prefer: respond-async\r\nConnection: close\r\n${body === '' ? '' : json}\r\n${body}`;
			const answerTo = (host: string) => raw(service.port(surface), `${request} HTTP/1.1\r\nHost: ${host}\r\n${more}`);
			// The admin surface answers to names of its own only.
			const claimed = await answerTo(surface === 'admin' ? 'metrics.example.org' : 'evil.example');
			assert.match(claimed, /^HTTP\/1\.1 20/, request);
			assert.doesNotMatch(claimed, /evil|metrics\.example/, request);
			assert.ok(claimed.includes(own.replace(/\d+$/, String(service.port(surface)))), request);
			const listed = await answerTo('fhir.example.org');
			assert.match(listed, /http:\/\/fhir\.example\.org/, request);
			assert.ok(!listed.includes(own), request);
		}
	});

	describe('without a key, of operations and admin,', () => {
		const asked = [
			['ops', 'GET /metrics'],
			['admin', 'GET /'],
			['admin', 'GET /sites/north'],
			['admin', 'GET /api/v1/session'],
			['admin', 'POST /api/v1/session'],
			['admin', 'GET /api/v1/sites'],
			['admin', 'GET /api/documentation/openapi.json'],
		] as const;
		const call = (surface: string, request: string, host: string, more = '') =>
			raw(service.port(surface), `${request} HTTP/1.1\r\nHost: ${host}\r\n${more}Content-Length: 0\r\nConnection: close\r\n\r\n`);

		for (const [surface, request] of asked) {
			test(`are refused to a page whose name was made to lead here: ${request}`, async () => {
				for (const host of [
					'evil.example',
					`evil.example:${service.port(surface)}`,
					'localhost.evil.example',
					'127.0.0.1.evil.example',
					'',
				]) {
					// Such a page takes its own name for the origin, and no proxy vouches for what it says.
					const answer = await call(surface, request, host, `Origin: http://${host}\r\nX-Forwarded-Proto: https\r\n`);
					assert.match(answer, /^HTTP\/1\.1 421 Misdirected Request\r\n/, host);
					assert.match(answer, /"error":"the (?:name '[\w.]+' is not one of this surface|Host header has no name).*OPERATOR_HOSTS/, host);
					assert.doesNotMatch(answer, /north|tributary_|<html/i);
				}
			});
		}

		test('are given by address, as localhost, and by names that are listed', async () => {
			const port = service.port('ops');
			for (const host of [
				'127.0.0.1',
				`127.0.0.1:${port}`,
				'[::1]',
				`[::1]:${port}`,
				'192.0.2.7',
				'localhost',
				`LOCALHOST:${port}`,
				'a.localhost',
			])
				assert.match(await call('ops', 'GET /metrics', host), /^HTTP\/1\.1 200 /, host);
			for (const host of [hostname(), 'metrics.example.org', 'Metrics.Example.org.:9464', 'fhir.example.org'])
				for (const [surface, path] of [
					['ops', '/metrics'],
					['admin', '/'],
				] as const)
					assert.match(await call(surface, `GET ${path}`, host), /^HTTP\/1\.1 200 /, `${surface} ${host}`);
		});

		test('tell balancers by any name whether the node is up', async () => {
			for (const path of ['/health/live', '/health/ready'])
				assert.match(await call('ops', `GET ${path}`, 'balancer.example'), /^HTTP\/1\.1 200 /, path);
		});
	});

	describe('and pages of other origins', () => {
		const viewer = 'https://viewer.example';
		const other = 'https://other.example';
		before(async () => {
			await setSite(service.administration, { slug: 'north', cors_origins: [viewer] });
			await setSite(service.administration, { slug: 'south', cors_origins: [other, 'http://localhost:3000'] });
		});

		const headersOf = ({ headers }: Response) =>
			Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'));

		test('may be asked for by a browser without a key, if a site allows the origin', async () => {
			const preflight = (origin: string, path: string) =>
				ask('fhir', 'OPTIONS', path, {
					Origin: origin,
					'Access-Control-Request-Method': 'PUT',
					'Access-Control-Request-Headers': 'x-api-key',
				});
			for (const path of ['/fhir/Patient/a', '/fhir', '/dicomweb/studies', '/nothing']) {
				for (const origin of [viewer, other]) {
					const answer = await preflight(origin, path);
					assert.equal(answer.status, 204, path);
					const { vary = '', ...headers } = headersOf(answer);
					assert.match(vary, /\bOrigin\b/);
					assert.equal(headers['access-control-allow-origin'], origin);
					assert.match(headers['access-control-allow-headers'] ?? '', /\bX-API-Key\b/);
					assert.match(headers['access-control-allow-methods'] ?? '', /\bPUT\b/);
					assert.equal(headers['access-control-allow-credentials'], undefined);
				}
				for (const origin of ['https://evil.example', 'null', 'https://viewer.example.evil'])
					assert.deepEqual(Object.keys(headersOf(await preflight(origin, path))), ['vary'], `${origin} ${path}`);
			}
		});

		test('are read only by those that the site of the key allows', async () => {
			const read = async (key: string, origin: string, path = '/fhir/Patient?_count=1') =>
				headersOf(await ask('fhir', 'GET', path, { 'X-API-Key': key, Origin: origin }));
			for (const path of ['/fhir/Patient?_count=1', '/fhir/Patient/none', '/dicomweb/studies', '/fhir/Patient/a/_history/1']) {
				const mine = await read(north, viewer, path);
				assert.equal(mine['access-control-allow-origin'], viewer, path);
				for (const name of ['ETag', 'Location', 'Content-Location', 'Last-Modified', 'X-Request-Id', 'Retry-After', 'X-Progress'])
					assert.ok(mine['access-control-expose-headers']?.split(', ').includes(name), name);
				assert.deepEqual(Object.keys(await read(north, other, path)), ['vary'], path);
				assert.equal((await read(south, 'http://localhost:3000', path))['access-control-allow-origin'], 'http://localhost:3000', path);
			}
			assert.match((await read(north, 'https://evil.example'))['vary'] ?? '', /\bOrigin\b/);
		});

		test('tell them why a call without a valid key was refused', async () => {
			const answer = await ask('fhir', 'GET', '/fhir/Patient/a', { Origin: viewer, 'X-API-Key': 'wrong' });
			assert.deepEqual([answer.status, headersOf(answer)['access-control-allow-origin']], [401, viewer]);
			const unread = await ask('fhir', 'GET', '/fhir/Patient/a', { Origin: viewer, 'X-API-Key': north, A: 'a'.repeat(20_000) });
			assert.deepEqual([unread.status, headersOf(unread)['access-control-allow-origin']], [431, viewer]);
		});

		test('are not concerned on other surfaces', async () => {
			const answer = await ask('hl7', 'POST', '/v2/ingest', { Origin: viewer, 'X-API-Key': north });
			assert.equal(headersOf(answer)['access-control-allow-origin'], undefined);
		});

		test('work in a browser, and fail there for any other page', { skip: without('chromium') }, async (t) => {
			const pages = createServer((_, response) =>
				response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>viewer</title>'),
			);
			await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
			t.after(() => pages.close());
			const { port } = pages.address() as AddressInfo;
			await setSite(service.administration, { slug: 'north', cors_origins: [`http://127.0.0.1:${port}`] });
			const browser = await chromium.launch({ executablePath: needs.chromium.found ?? '', args: ['--no-sandbox'] });
			t.after(() => browser.close());
			const page = await browser.newPage();
			const call = async (host: string, key: string) => {
				await page.goto(`http://${host}:${port}/`);
				return page.evaluate(
					async ({ url, key }) => {
						const headers = { 'X-API-Key': key, 'Content-Type': 'application/fhir+json' };
						const body = '{"resourceType":"Patient","id":"browsed"}';
						const answer = await fetch(url, { method: 'PUT', headers, body }).catch((error) => String(error));
						return typeof answer === 'string'
							? answer
							: [answer.status, answer.headers.get('ETag'), answer.headers.get('X-Request-Id') !== null];
					},
					{ url: `http://127.0.0.1:${service.port('fhir')}/fhir/Patient/browsed`, key },
				);
			};
			assert.deepEqual(await call('127.0.0.1', north), [201, 'W/"1"', true]);
			// The same page under another name is another origin.
			assert.match(String(await call('localhost', north)), /Failed to fetch/);
			// The site of this key does not know the page.
			assert.match(String(await call('127.0.0.1', south)), /Failed to fetch/);
		});
	});
});
