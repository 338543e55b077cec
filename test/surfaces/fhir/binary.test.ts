import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

const bodyBytesMax = 3_000_000;
let service: TestService;
let key: string;
let other: string;
let west: FhirCall;

before(async () => {
	service = await testService({ HTTP_BODY_BYTES_MAX: String(bodyBytesMax) });
	key = (await service.addSite('west')).key;
	other = (await service.addSite('east')).key;
	west = fhirClient(service, key);
	await setSite(service.administration, { slug: 'west', deletes: true });
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

interface Raw {
	status: number;
	headers: ReadonlyMap<string, string>;
	body: Buffer;
}

/** Sends exactly these headers and bytes, as curl would, over a connection of its own. */
function raw(method: string, path: string, headers: Record<string, string> = {}, body?: Uint8Array, as = key): Promise<Raw> {
	return new Promise((resolve, reject) => {
		const length = body === undefined ? {} : { 'Content-Length': String(body.length) };
		const given = { method, headers: { 'X-API-Key': as, ...length, ...headers }, agent: false };
		const sent = request(`http://127.0.0.1:${service.port('fhir')}/fhir/${path}`, given, (answer) => {
			const chunks: Buffer[] = [];
			answer.on('data', (chunk: Buffer) => chunks.push(chunk));
			answer.on('error', reject);
			answer.on('end', () => {
				const told = new Map(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
				resolve({ status: answer.statusCode ?? 0, headers: told, body: Buffer.concat(chunks) });
			});
		});
		sent.on('error', reject);
		sent.end(body);
	});
}

const idOf = ({ headers }: Raw) => /Binary\/([^/]+)\/_history/.exec(headers.get('location') ?? '')?.[1] ?? assert.fail('no Location');
const fhirJson = { Accept: 'application/fhir+json' };
/** Every byte, and long enough to be read in several pieces. */
const bytes = Buffer.from(Array.from({ length: 1_700_003 }, (_, index) => (index * 7919) % 251));
const pixels = { 'Content-Type': 'image/png' };

describe('a Binary that a client sends as plain bytes', () => {
	test('is stored under its media type, and read back byte for byte or as the resource', async () => {
		const created = await raw('POST', 'Binary', pixels, bytes);
		assert.deepEqual([created.status, created.body.length, created.headers.get('etag')], [201, 0, 'W/"1"']);
		const id = idOf(created);
		for (const accept of [undefined, '*/*', 'image/png', 'image/*,application/fhir+json;q=0.1']) {
			const read = await raw('GET', `Binary/${id}`, accept === undefined ? {} : { Accept: accept });
			assert.equal(read.status, 200);
			assert.equal(read.headers.get('content-type'), 'image/png');
			assert.ok(read.body.equals(bytes), `${accept}: ${read.body.length}`);
		}
		const resource = JSON.parse((await raw('GET', `Binary/${id}`, fhirJson)).body.toString());
		assert.deepEqual([resource.resourceType, resource.id, resource.contentType], ['Binary', id, 'image/png']);
		assert.equal(
			createHash('sha1').update(Buffer.from(resource.data, 'base64')).digest('hex'),
			createHash('sha1').update(bytes).digest('hex'),
		);
		assert.equal((await raw('GET', `Binary/${id}`, { 'If-None-Match': 'W/"1"' })).status, 304);
		const head = await raw('HEAD', `Binary/${id}`);
		assert.deepEqual([head.status, head.headers.get('content-type'), head.body.length], [200, 'image/png', 0]);
		assert.equal((await raw('GET', `Binary/${id}`, {}, undefined, other)).status, 404);
		assert.equal((await raw('GET', `Binary/${id}`, {}, undefined, 'wrong')).status, 401);
		assert.equal((await raw('GET', `Binary/${id}`, { Accept: 'application/fhir+xml' })).status, 406);
	});

	test('keeps its versions, and is changed only as If-Match permits', async () => {
		const put = (text: string, headers: Record<string, string> = {}) =>
			raw('PUT', 'Binary/note', { 'Content-Type': 'text/plain; charset=utf-8', ...headers }, Buffer.from(text));
		assert.deepEqual([(await put('one')).status, (await put('two', { 'If-Match': 'W/"1"' })).status], [201, 200]);
		assert.equal((await put('three', { 'If-Match': 'W/"1"' })).status, 412);
		assert.equal((await put('two')).headers.get('etag'), 'W/"2"', 'the same bytes are no new version');
		const read = async (path: string) => (await raw('GET', path)).body.toString();
		assert.deepEqual([await read('Binary/note'), await read('Binary/note/_history/1')], ['two', 'one']);
		const history: FhirBody = JSON.parse((await raw('GET', 'Binary/note/_history')).body.toString());
		assert.deepEqual(
			history.entry.map(({ resource }: FhirBody) => Buffer.from(resource.data, 'base64').toString()),
			['two', 'one'],
		);
		assert.equal((await raw('DELETE', 'Binary/note')).status, 204);
		assert.deepEqual([(await raw('GET', 'Binary/note')).status, await read('Binary/note/_history/2')], [410, 'two']);
		assert.deepEqual([(await put('back')).status, await read('Binary/note')], [201, 'back']);
	});

	test('is never run by a browser, and never kept by a cache', async () => {
		const html = Buffer.from('<html><script>alert(1)</script></html>');
		for (const [type, disposition] of [
			['text/html', 'attachment'],
			['image/svg+xml', 'attachment'],
			['application/xhtml+xml;charset=utf-8', 'attachment'],
			['text/plain', undefined],
			['application/pdf', undefined],
		] as const) {
			const read = await raw('GET', `Binary/${idOf(await raw('POST', 'Binary', { 'Content-Type': type }, html))}`);
			assert.deepEqual([read.headers.get('content-type'), read.headers.get('content-disposition')], [type, disposition]);
			assert.deepEqual(
				['x-content-type-options', 'content-security-policy', 'cache-control'].map((name) => read.headers.get(name)),
				['nosniff', "sandbox; default-src 'none'", 'no-store'],
			);
			assert.ok(read.headers.get('vary')?.includes('X-API-Key'), read.headers.get('vary'));
			assert.ok(read.body.equals(html));
		}
	});

	test('has the security context that its header names', async () => {
		await west('PUT', '/Patient/secured', { resourceType: 'Patient', id: 'secured' });
		const created = await raw('POST', 'Binary', { ...pixels, 'X-Security-Context': 'Patient/secured' }, bytes.subarray(0, 99));
		const read = await raw('GET', `Binary/${idOf(created)}`);
		assert.equal(read.headers.get('x-security-context'), 'Patient/secured');
		const { body } = await west('GET', `/Binary/${idOf(created)}`, undefined, fhirJson);
		assert.deepEqual(body.securityContext, { reference: 'Patient/secured' });
		for (const context of ['Patient/nobody', 'not a reference']) {
			const refused = await raw('POST', 'Binary', { ...pixels, 'X-Security-Context': context }, bytes);
			assert.ok([400, 422].includes(refused.status), `${context}: ${refused.status}`);
		}
	});

	test('may be FHIR of another type, or empty; without a media type, with a coding, or as a Binary in XML it is refused', async () => {
		const patient = Buffer.from('{"resourceType":"Patient"}');
		const stored = await raw('POST', 'Binary', { 'Content-Type': 'application/fhir+json' }, patient);
		assert.equal((await raw('GET', `Binary/${idOf(stored)}`, { Accept: '*/*' })).body.toString(), patient.toString());
		const empty = await raw('POST', 'Binary', pixels, Buffer.alloc(0));
		assert.equal((await raw('GET', `Binary/${idOf(empty)}`)).body.length, 0);
		for (const [status, headers, text] of [
			[415, {}, 'x'],
			[415, { 'Content-Type': 'nothing' }, 'x'],
			[415, { ...pixels, 'Content-Encoding': 'gzip' }, 'x'],
			[415, { 'Content-Type': 'application/fhir+xml' }, '<?xml version="1.0"?><Binary xmlns="http://hl7.org/fhir"/>'],
			[400, { 'Content-Type': 'application/fhir+json' }, '{"resourceType":"Binary",'],
		] as const) {
			const refused = await raw('POST', 'Binary', headers, Buffer.from(text));
			assert.equal(refused.status, status, refused.body.toString());
			assert.equal(JSON.parse(refused.body.toString()).resourceType, 'OperationOutcome');
		}
	});

	test('is 413 beyond HTTP_BODY_BYTES_MAX, with an OperationOutcome', async () => {
		const refused = await raw('POST', 'Binary', pixels, Buffer.alloc(bodyBytesMax + 1));
		assert.equal(refused.status, 413);
		assert.equal(JSON.parse(refused.body.toString()).issue[0].severity, 'error');
	});
});

describe('a Binary that a client sends as the resource', () => {
	test('is the same as one of plain bytes', async () => {
		const given = { resourceType: 'Binary', contentType: 'text/plain', data: Buffer.from('hello').toString('base64') };
		const created = await west('POST', '/Binary', given);
		assert.equal(created.status, 201, created.text);
		assert.equal(created.body.data, given.data);
		const read = await raw('GET', `Binary/${created.body.id}`);
		assert.deepEqual([read.headers.get('content-type'), read.body.toString()], ['text/plain', 'hello']);
		assert.equal((await west('POST', '/Binary', { ...given, data: 'no!base64' })).status, 400);
		assert.equal((await west('POST', '/Binary', { resourceType: 'Binary' })).status, 400);
	});

	test('is the attachment of a document in one transaction', async () => {
		const fullUrl = 'urn:uuid:00000000-0000-4000-8000-0000000000b1';
		const reply = await west('POST', '', {
			resourceType: 'Bundle',
			type: 'transaction',
			entry: [
				{
					fullUrl: 'urn:uuid:00000000-0000-4000-8000-0000000000b2',
					resource: {
						...{ resourceType: 'DocumentReference', status: 'current' },
						content: [{ attachment: { contentType: 'text/plain', url: fullUrl } }],
					},
					request: { method: 'POST', url: 'DocumentReference' },
				},
				{
					fullUrl,
					resource: { resourceType: 'Binary', contentType: 'text/plain', data: Buffer.from('letter').toString('base64') },
					request: { method: 'POST', url: 'Binary' },
				},
			],
		});
		assert.equal(reply.status, 200, reply.text);
		const [document, binary] = reply.body.entry;
		assert.equal(document.resource.content[0].attachment.url, `Binary/${binary.resource.id}`);
		assert.equal((await raw('GET', document.resource.content[0].attachment.url)).body.toString(), 'letter');
	});
});
