import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { AccessDirectory } from '#access/directory.ts';
import { systemClock } from '#core/clock.ts';
import { newId } from '#core/id.ts';
import { silentLog } from '#core/log.ts';
import type { ResourceDefinition } from '#fhir/resource.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import type { SiteGateway } from '#site/gateway.ts';
import { LongSearchTable } from '#storage/long-searches.ts';
import type { Reader } from '#storage/reader.ts';
import { ResourceReads } from '#storage/resource-reads.ts';
import { Cursors } from '#surfaces/fhir/cursor.ts';
import { LongSearches } from '#surfaces/fhir/long-searches.ts';
import { fhirRoutes, renderFhirFailure } from '#surfaces/fhir/routes.ts';
import { SiteLibraries } from '#surfaces/fhir/site-libraries.ts';
import { createHttpServer, type HttpServer } from '#surfaces/http/server.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { doorTo } from '#test/support/door.ts';
import type { Resource } from '#test/support/naive-search.ts';
import { type GivenResource, insertResources, lastUpdated } from '#test/support/stored-resources.ts';
import { defaultLimits } from '../../../src/limits.ts';
import { createMetrics } from '../../../src/metrics.ts';

const west = newId();
const east = newId();
const sites: Readonly<Record<string, string>> = { 'west-key': west, 'east-key': east };

const directory: AccessDirectory = {
	grantOfKey: (header) => {
		const siteId = sites[header ?? ''];
		return siteId === undefined
			? undefined
			: {
					keyId: 'key',
					siteId,
					siteSlug: 'site',
					settings: {},
				};
	},
	mayConnect: () => false,
	matchSender: () => ({ kind: 'no-address' }),
};

/** These tests only read. */
const nowhere: SiteGateway = {
	deliver: () => Promise.reject(new Error('nothing is delivered here')),
	hasRoom: () => true,
	whenRoom: () => Promise.resolve(),
	available: () => true,
};

const anna: GivenResource = {
	type: 'Patient',
	id: newId(),
	version: 2,
	source: 'urn:tributary:mllp#1',
	text: '{"active":true,"name":[{"text":"Anna Müller"}],"gender":"female","birthDate":"1970-05-17","identifier":[{"system":"urn:mrn","value":"4711"}]}',
};
const result: GivenResource = {
	type: 'Observation',
	id: newId(),
	patientId: anna.id,
	text: `{"status":"final","code":{"coding":[{"code":"HB"}]},"subject":{"reference":"Patient/${anna.id}"},"valueQuantity":{"value":12.50}}`,
};
const others = Array.from(
	{ length: 9 },
	(_, index): GivenResource => ({ type: 'Patient', id: newId(), text: `{"name":[{"text":"Other ${index}"}]}` }),
);

let database: TestDatabase;
let reader: Reader;
let server: HttpServer;
let open: HttpServer;

before(async () => {
	database = await testDatabase();
	const client = new pg.Client({ connectionString: database.url });
	await client.connect();
	await insertResources(client, west, [anna, result, ...others]);
	await insertResources(client, east, [{ type: 'Patient', id: newId(), text: '{"name":[{"text":"Eastern"}]}' }]);
	await client.end();
	const metrics = createMetrics({ processMetrics: false });
	const door = doorTo(database.url);
	reader = door.reads;
	const start = (publicMetadata: boolean) =>
		createHttpServer({
			name: 'fhir',
			host: '127.0.0.1',
			port: 0,
			trustedProxies: ['127.0.0.1'],
			limits: defaultLimits,
			metrics,
			log: silentLog,
			routes: fhirRoutes({
				directory,
				tokens: { areTaken: false, grantOf: () => undefined, endpointsOf: async () => 'none' },
				reader,
				reads: new ResourceReads(reader),
				gateway: nowhere,
				libraries: new SiteLibraries({ definitionsVersionOf: () => '0' }, reader, silentLog),
				clock: systemClock,
				audit: { recordAccess: () => undefined },
				cursors: new Cursors(Buffer.alloc(32, 7)),
				longSearches: new LongSearches(new LongSearchTable(door.journal), defaultLimits),
				limits: defaultLimits,
				metrics,
				version: '1.2.3',
				publicMetadata,
			}),
			renderFailure: renderFhirFailure,
		});
	server = await start(false);
	open = await start(true);
});

after(async () => {
	await server.close(0);
	await open.close(0);
	await reader.close();
	await database[Symbol.asyncDispose]();
});

interface Answer {
	status: number;
	headers: Headers;
	text: string;
	body: Resource;
}

async function call(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
	const url = path.startsWith('http') ? path : `http://127.0.0.1:${server.port}${path}`;
	const answer = await fetch(url, { method, headers: { 'X-API-Key': 'west-key', ...headers } });
	const text = await answer.text();
	return { status: answer.status, headers: answer.headers, text, body: text === '' ? undefined : JSON.parse(text) };
}

const linkOf = (bundle: Resource, relation: string): string | undefined =>
	bundle.link.find((link: { relation: string }) => link.relation === relation)?.url;
const idsOf = (bundle: Resource): string[] => (bundle.entry ?? []).map(({ resource }: Resource) => resource.id);

function assertOutcome(answer: Answer, status: number, code: string): void {
	assert.equal(answer.status, status, answer.text);
	assert.match(answer.headers.get('content-type') ?? '', /^application\/fhir\+json; fhirVersion=4\.0/);
	assert.equal(answer.body.resourceType, 'OperationOutcome');
	assert.equal(answer.body.issue[0].severity, 'error');
	assert.equal(answer.body.issue[0].code, code);
	assert.ok(answer.body.issue[0].diagnostics.length > 0);
	assert.ok(answer.headers.get('x-request-id'));
}

describe('who may call', () => {
	test('no key and a wrong key get the same 401 on every path, metadata too', async () => {
		const bodies = new Set<string>();
		for (const path of ['/fhir/metadata', '/fhir/Patient', `/fhir/Patient/${anna.id}`, '/fhir/Nothing', '/fhir/Patient?foo=bar']) {
			for (const key of ['', 'wrong', 'west-key2']) {
				const answer = await call(path, { 'X-API-Key': key });
				assertOutcome(answer, 401, 'login');
				assert.equal(answer.headers.get('www-authenticate'), 'X-API-Key');
				assert.doesNotMatch(answer.text, /token/);
				bodies.add(answer.text);
			}
		}
		assert.equal(bodies.size, 1);
	});

	test('with PUBLIC_METADATA only the capability statement is open', async () => {
		const base = `http://127.0.0.1:${open.port}`;
		assert.equal((await call(`${base}/fhir/metadata`, { 'X-API-Key': '' })).status, 200);
		assertOutcome(await call(`${base}/fhir/Patient`, { 'X-API-Key': '' }), 401, 'login');
	});
});

const sampleValues: Readonly<Record<string, string>> = { date: '2024', quantity: '1', number: '1' };

function sampleOf(definition: ResourceDefinition, name: string, kind: string): string {
	const parameter = definition.search[name];
	if (parameter?.type !== 'composite') return sampleValues[kind] ?? 'x';
	return parameter.components.map((component) => sampleOf(definition, component, definition.search[component]?.type ?? '')).join('$');
}

describe('GET /fhir/metadata', () => {
	test('gives the capability statement with the URL under which it was reached', async () => {
		const { status, headers, body } = await call('/fhir/metadata');
		assert.equal(status, 200);
		assert.equal(headers.get('content-type'), 'application/fhir+json; fhirVersion=4.0; charset=utf-8');
		assert.equal(body.resourceType, 'CapabilityStatement');
		assert.equal(body.implementation.url, `http://127.0.0.1:${server.port}/fhir`);
		assert.equal(body.software.version, '1.2.3');
	});

	test('says what it does not do: enforce every reference, and send what a Subscription asks for', async () => {
		const [rest] = (await call('/fhir/metadata')).body.rest;
		for (const { type, referencePolicy } of rest.resource) assert.deepEqual(referencePolicy, ['literal', 'logical'], type);
		assert.match(rest.documentation, /A reference to a Patient in a write has to be one of the site/);
		const { documentation } = rest.resource.find(({ type }: { type: string }) => type === 'Subscription');
		assert.match(documentation, /No notification is sent/);
	});

	test('every interaction that it claims is answered', async () => {
		const { body } = await call('/fhir/metadata');
		for (const { type, interaction, searchParam } of body.rest[0].resource) {
			const codes = interaction.map(({ code }: { code: string }) => code);
			for (const code of ['read', 'vread', 'search-type', 'history-instance', 'history-type'])
				assert.ok(codes.includes(code), `${type} ${code}`);
			for (const path of ['/_history', `/${newId()}/_history`, `/${newId()}/_history/1`]) {
				assert.equal((await call(`/fhir/${type}${path}`)).status, path === '/_history' ? 200 : 404, path);
			}
			assert.equal((await call(`/fhir/${type}`)).status, 200);
			assertOutcome(await call(`/fhir/${type}/${newId()}`), 404, 'not-found');
			for (const { name, type: kind } of searchParam) {
				const definition = definitionOf(type) ?? assert.fail();
				assert.equal((await call(`/fhir/${type}?${name}=${sampleOf(definition, name, kind)}`)).status, 200, `${type}?${name}`);
			}
		}
	});
});

describe('GET /fhir/{type}/{id}', () => {
	test('gives the resource with id, meta, ETag and Last-Modified, every digit as stored', async () => {
		const { status, headers, body } = await call(`/fhir/Patient/${anna.id}`);
		assert.equal(status, 200);
		assert.equal(headers.get('etag'), 'W/"2"');
		assert.equal(headers.get('last-modified'), 'Fri, 02 Jan 2026 03:04:05 GMT');
		assert.deepEqual(body, {
			resourceType: 'Patient',
			id: anna.id,
			meta: { versionId: '2', lastUpdated, source: 'urn:tributary:mllp#1' },
			...JSON.parse(anna.text),
		});
		assert.match((await call(`/fhir/Observation/${result.id}`)).text, /"value":12\.50/);
	});

	test('If-None-Match with the version that stands is 304 without a body, with another one 200', async () => {
		for (const tag of ['W/"2"', '"2"', 'W/"1", W/"2"', '*']) {
			const { status, headers, text } = await call(`/fhir/Patient/${anna.id}`, { 'If-None-Match': tag });
			assert.equal(status, 304, tag);
			assert.equal(headers.get('etag'), 'W/"2"');
			assert.equal(text, '');
		}
		assert.equal((await call(`/fhir/Patient/${anna.id}`, { 'If-None-Match': 'W/"1"' })).status, 200);
	});

	test('an id of another site, an unknown and a malformed one get the same 404', async () => {
		const foreign = await call(`/fhir/Patient/${anna.id}`, { 'X-API-Key': 'east-key' });
		const bodies = new Set([foreign.text]);
		assertOutcome(foreign, 404, 'not-found');
		for (const id of [newId(), 'x', anna.id.toUpperCase(), '%00', "'", '_search', 'a'.repeat(500)]) {
			const answer = await call(`/fhir/Patient/${id}`);
			assertOutcome(answer, 404, 'not-found');
			bodies.add(answer.text);
		}
		assert.equal(bodies.size, 1);
		assertOutcome(await call(`/fhir/Observation/${anna.id}`), 404, 'not-found');
	});

	test('HEAD answers as GET does, without the body', async () => {
		const { status, headers, text } = await call(`/fhir/Patient/${anna.id}`, {}, 'HEAD');
		assert.deepEqual([status, headers.get('etag'), text], [200, 'W/"2"', '']);
	});
});

describe('GET /fhir/{type}?…', () => {
	test('without parameters gives all of the site, and a total that costs nothing', async () => {
		const { status, body } = await call('/fhir/Patient');
		assert.equal(status, 200);
		assert.equal(body.type, 'searchset');
		assert.deepEqual(
			idsOf(body),
			[anna, ...others].map(({ id }) => id),
		);
		assert.equal(body.total, 10);
		assert.equal(linkOf(body, 'self'), `http://127.0.0.1:${server.port}/fhir/Patient`);
		assert.equal(linkOf(body, 'next'), undefined);
		assert.equal(body.entry[0].fullUrl, `http://127.0.0.1:${server.port}/fhir/Patient/${anna.id}`);
		assert.equal((await call('/fhir/Patient', { 'X-API-Key': 'east-key' })).body.total, 1);
	});

	test('the parameters of the specification', async () => {
		const searches: [string, string[]][] = [
			['Patient?identifier=4711', [anna.id]],
			['Patient?identifier=urn:mrn|4711', [anna.id]],
			['Patient?identifier=urn:other|4711', []],
			[`Patient?name=${encodeURIComponent('MÜLL')}`, [anna.id]],
			['Patient?birthdate=1970-05-17', [anna.id]],
			['Patient?birthdate=1970-05-18', []],
			['Patient?gender=female', [anna.id]],
			['Patient?gender=female&name=other', []],
			[`Observation?patient=Patient/${anna.id}`, [result.id]],
			[`Observation?patient=${anna.id}&code=HB`, [result.id]],
			[`Observation?patient=http://127.0.0.1:${server.port}/fhir/Patient/${anna.id}`, [result.id]],
			[`Observation?patient=Patient/${others[0]?.id}`, []],
			['Observation?code=K', []],
		];
		for (const [query, ids] of searches) {
			const { status, body } = await call(`/fhir/${query}`);
			assert.equal(status, 200, query);
			assert.deepEqual(idsOf(body), ids, query);
		}
		assert.match((await call('/fhir/Observation')).text, /"value":12\.50/);
	});

	test('next links lead through all pages, each with its own self link, keeping the parameters', async () => {
		const seen: string[] = [];
		let url: string | undefined = '/fhir/Patient?name=other&_count=4&_format=json';
		const totals: unknown[] = [];
		while (url !== undefined) {
			const { body }: Answer = await call(url);
			if (url.startsWith('http')) assert.equal(linkOf(body, 'self'), url);
			seen.push(...idsOf(body));
			totals.push(body.total);
			url = linkOf(body, 'next');
			if (url !== undefined) assert.match(url, /name=other&_count=4&_format=json&_cursor=/);
		}
		assert.deepEqual(
			seen,
			others.map(({ id }) => id),
		);
		assert.deepEqual(totals, [undefined, undefined, undefined]);
	});

	test('a cursor of another site, type or search, or a changed one, is refused', async () => {
		const { body } = await call('/fhir/Patient?name=other&_count=4');
		const next = linkOf(body, 'next') ?? assert.fail();
		const cursor = new URL(next).searchParams.get('_cursor') ?? assert.fail();
		assert.equal((await call(next)).status, 200);
		assertOutcome(await call(next, { 'X-API-Key': 'east-key' }), 400, 'invalid');
		const changed = [`${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`, cursor.slice(0, -4), cursor.slice(0, 22), 'x', '%00'];
		for (const path of [
			`Patient?name=othe&_count=4&_cursor=${cursor}`,
			`Patient?name=other&_count=5&_cursor=${cursor}`,
			`Observation?_count=4&_cursor=${cursor}`,
			...changed.map((other) => `Patient?name=other&_count=4&_cursor=${other}`),
		]) {
			assertOutcome(await call(`/fhir/${path}`), 400, 'invalid');
		}
	});

	test('a _count over the limit is cut, and the self link says so', async () => {
		const { body } = await call('/fhir/Patient?_count=5000');
		assert.match(linkOf(body, 'self') ?? '', /\?_count=1000$/);
	});

	test('the total is counted when it is asked for; _summary=count and _count=0 give nothing else', async () => {
		const page = (await call('/fhir/Patient?_count=2&_total=accurate')).body;
		assert.deepEqual([page.total, idsOf(page).length], [10, 2]);
		for (const query of ['_summary=count', '_count=0']) {
			const { body } = await call(`/fhir/Patient?name=other&${query}`);
			assert.deepEqual([body.total, body.entry, linkOf(body, 'next')], [9, undefined, undefined], query);
		}
	});

	test('unknown parameters are refused by name; with handling=lenient ignored, and the self link leaves them out', async () => {
		const refused = await call('/fhir/Patient?nme=x&gender=female');
		assertOutcome(refused, 400, 'not-supported');
		assert.match(refused.body.issue[0].diagnostics, /'nme'/);
		const { status, body } = await call('/fhir/Patient?nme=x&gender=female', { Prefer: 'respond-async, handling=lenient' });
		assert.equal(status, 200);
		assert.deepEqual(idsOf(body), [anna.id]);
		assert.match(linkOf(body, 'self') ?? '', /Patient\?gender=female$/);
		assertOutcome(await call('/fhir/Patient?nme=x', { Prefer: 'handling=strict' }), 400, 'not-supported');
	});

	test('a value that is no date is refused and not repeated', async () => {
		const answer = await call('/fhir/Patient?birthdate=Smith');
		assertOutcome(answer, 400, 'invalid');
		assert.deepEqual(answer.body.issue[0].expression, ['birthdate']);
		assert.doesNotMatch(answer.text, /Smith/);
	});
});

describe('what the surface does not do', () => {
	test('a resource type that is not served is 404 `not-supported`, whatever it is called', async () => {
		for (const type of ['Bundle', 'patient', 'toString', '__proto__', 'Nothing']) {
			assertOutcome(await call(`/fhir/${type}`), 404, 'not-supported');
			assertOutcome(await call(`/fhir/${type}/${anna.id}`), 404, 'not-supported');
		}
	});

	test('deleting clinical resources is 405 with Allow', async () => {
		for (const [method, path, allow] of [
			['DELETE', `/fhir/Patient/${anna.id}`, 'GET, HEAD, PATCH, PUT'],
			['DELETE', '/fhir/Patient', 'GET, HEAD, PATCH, POST, PUT'],
		] as const) {
			const answer = await call(path, {}, method);
			assertOutcome(answer, 405, 'not-supported');
			assert.equal(answer.headers.get('allow'), allow);
		}
	});

	test('other paths, the other surfaces’ among them, are 404', async () => {
		for (const path of ['/', `/fhir/Patient/${anna.id}/a/b`, '/v2/ingest', '/metrics']) assertOutcome(await call(path), 404, 'not-found');
		// A third part names the type of a compartment search.
		assertOutcome(await call(`/fhir/Patient/${anna.id}/_nothing`), 404, 'not-supported');
	});
});
