import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { DicomWebContext } from '#surfaces/dicomweb/context.ts';
import { dicomWebRoutes } from '#surfaces/dicomweb/routes.ts';
import { type BulkContext, bulkRoutes } from '#surfaces/fhir/bulk.ts';
import type { FhirContext } from '#surfaces/fhir/context.ts';
import { fhirRoutes } from '#surfaces/fhir/routes.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
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
		service = await testService();
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
			assert.equal(refused.status, 401, `${method} ${path}`);
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

	test('to searches by hundreds of ids in the URL are given', async () => {
		const ids = ['a', ...Array.from({ length: 400 }, (_, index) => `0190f0f0-0000-7000-8000-${String(index).padStart(12, '0')}`)];
		const { status, body } = await fhir('GET', `/Patient?_id=${ids.join()}`);
		assert.deepEqual([status, body.total], [200, 1]);
	});

	test('are 400 when the key stands twice, on every origin', async () => {
		for (const [surface, request] of [
			['fhir', 'GET /fhir/Patient/a HTTP/1.1\r\n'],
			['hl7', 'POST /v2/ingest HTTP/1.1\r\nContent-Length: 0\r\n'],
			['mpps', 'POST /ingest HTTP/1.1\r\nContent-Length: 0\r\n'],
		] as const) {
			const key = `X-API-Key: ${north}\r\n`;
			const answer = await raw(service.port(surface), `${request}Host: h\r\n${key}${key}\r\n`, /given more than once/);
			assert.match(answer, /^HTTP\/1\.1 400 [\s\S]*X-API-Key is given more than once/, surface);
			assert.match(answer, surface === 'fhir' ? /"resourceType":"OperationOutcome"/ : /"success":false/, surface);
			assert.match(answer, /\r\nX-Request-Id: /, surface);
		}
	});
});
