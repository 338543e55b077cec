import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { newId } from '#core/id.ts';

import { fhirClient } from '#test/support/fhir-client.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let key: string;

before(async () => {
	service = await testService();
	key = (await service.addSite('west')).key;
	assert.equal((await fhirClient(service, key)('PUT', '/Patient/anna', { resourceType: 'Patient', id: 'anna' })).status, 201);
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

async function call(path: string, headers: Record<string, string> = {}): Promise<{ status: number; headers: Headers; body: FhirBody }> {
	const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}${path}`, { headers: { 'X-API-Key': key, ...headers } });
	const text = await answer.text();
	return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
}

function assertOutcome({ status, body }: { status: number; body: FhirBody }, expected: number, code: string): void {
	assert.deepEqual([status, body.resourceType, body.issue[0].code], [expected, 'OperationOutcome', code]);
}

describe('media types', () => {
	const path = '/fhir/Patient/anna';
	const fhirJson = 'application/fhir+json; fhirVersion=4.0; charset=utf-8';
	const plainJson = 'application/json; charset=utf-8';

	test('Accept and _format choose between FHIR JSON and plain JSON', async () => {
		for (const [accept, type] of [
			['application/fhir+json', fhirJson],
			['application/fhir+json; fhirVersion=4.0', fhirJson],
			['*/*', fhirJson],
			['text/html, application/xhtml+xml, */*;q=0.8', fhirJson],
			['application/json', plainJson],
			['application/fhir+json;q=0.5, application/json', plainJson],
			['application/fhir+xml, application/fhir+json;q=0.1', fhirJson],
		] as const) {
			assert.equal((await call(path, { Accept: accept })).headers.get('content-type'), type, accept);
		}
		for (const [format, type] of [
			['json', fhirJson],
			['application/fhir%2Bjson', fhirJson],
			['application/fhir+json', fhirJson],
			['application/json', plainJson],
		] as const) {
			const { status, headers } = await call(`${path}?_format=${format}`, { Accept: 'application/fhir+xml' });
			assert.deepEqual([status, headers.get('content-type')], [200, type], format);
		}
	});

	test('what cannot be answered is 406, on every interaction', async () => {
		for (const accept of ['application/fhir+xml', 'text/csv', 'application/fhir+json; fhirVersion=3.0', 'application/json;q=0']) {
			for (const url of [path, '/fhir/Patient', '/fhir/metadata']) assertOutcome(await call(url, { Accept: accept }), 406, 'not-supported');
		}
		for (const format of ['xml', 'application/fhir%2Bjson;fhirVersion=3.0'])
			assertOutcome(await call(`${path}?_format=${format}`), 406, 'not-supported');
		assert.equal((await call(`${path}?_format=application/fhir%2Bjson;fhirVersion=4.0`)).status, 200);
	});

	test('failures are told in plain JSON to who accepts only that', async () => {
		const { status, headers } = await call(`/fhir/Patient/${newId()}`, { Accept: 'application/json' });
		assert.deepEqual([status, headers.get('content-type')], [404, plainJson]);
	});
});

describe('paths', () => {
	const post = (path: string) => fhirClient(service, key)('POST', path.slice('/fhir'.length), { resourceType: 'Parameters' });

	test('an operation that does not exist is called so, and not a resource', async () => {
		for (const path of ['/fhir/$nope', '/fhir/Patient/$nope', '/fhir/Patient/anna/$nope']) {
			for (const answer of [await call(path), await post(path)]) {
				assertOutcome(answer, 404, 'not-supported');
				assert.match(answer.body.issue[0].diagnostics, /no operation of this name/, path);
			}
		}
		const known = await post('/fhir/Patient/$export');
		assert.doesNotMatch(known.body.issue[0].diagnostics, /no operation/);
		const answer = await call('/fhir/Patient/$validate');
		assertOutcome(answer, 405, 'not-supported');
		assert.equal(answer.headers.get('allow'), 'POST');
		assertOutcome(await call('/fhir/Patient/$nope', { 'X-API-Key': 'none' }), 401, 'login');
		const reply = await fhirClient(service, key)('POST', '', {
			resourceType: 'Bundle',
			type: 'batch',
			entry: [{ request: { method: 'GET', url: 'Patient/$nope' } }],
		});
		assert.match(reply.body.entry[0].response.outcome.issue[0].diagnostics, /no operation of this name/);
	});

	test('a slash at the end changes nothing', async () => {
		const client = fhirClient(service, key);
		for (const path of ['/Patient', '/Patient/anna', '/Patient/anna/_history', '/Patient/anna/_history/1', '/metadata']) {
			const [without, withSlash] = [await client('GET', path), await client('GET', `${path}/`)];
			assert.deepEqual([withSlash.status, withSlash.body.id], [200, without.body.id], path);
		}
		assert.equal((await client('GET', '/Patient/?_id=anna')).body.link[0].url, (await client('GET', '/Patient?_id=anna')).body.link[0].url);
		assert.equal((await client('POST', '/Patient/', { resourceType: 'Patient' })).status, 201);
		assert.equal((await client('PUT', '/Patient/slash/', { resourceType: 'Patient', id: 'slash' })).status, 201);
		assert.equal((await client('PUT', '/Patient/?identifier=slash', { resourceType: 'Patient' })).status, 201);
	});
});

test('where a site asks for If-Match, an update without it is 412, and the capability statement says so', async () => {
	const client = fhirClient(service, (await service.addSite('matching')).key);
	const versioning = async () =>
		(await client('GET', '/metadata')).body.rest[0].resource.find(({ type }: FhirBody) => type === 'Patient').versioning;
	const put = (gender: string, headers = {}) => client('PUT', '/Patient/one', { resourceType: 'Patient', id: 'one', gender }, headers);
	assert.equal(await versioning(), 'versioned');
	assert.deepEqual([(await put('male')).status, (await put('female')).status], [201, 200]);
	await setSite(service.administration, { slug: 'matching', if_match: 'required' });
	await eventually(async () => (await versioning()) === 'versioned-update', 'the setting');
	assertOutcome(await put('male'), 412, 'conflict');
	assertOutcome(await client('PATCH', '/Patient/one', [{ op: 'remove', path: '/gender' }]), 412, 'conflict');
	const resource = { resourceType: 'Patient', id: 'one', gender: 'other' };
	const inBundle = (more: object) =>
		client('POST', '', {
			resourceType: 'Bundle',
			type: 'transaction',
			entry: [{ resource, request: { method: 'PUT', url: 'Patient/one', ...more } }],
		});
	assertOutcome(await inBundle({}), 412, 'conflict');
	assert.equal((await inBundle({ ifMatch: 'W/"2"' })).status, 200);
	assert.equal((await put('male', { 'If-Match': 'W/"3"' })).status, 200);
	assert.equal((await client('PUT', '/Patient/two', { resourceType: 'Patient', id: 'two' })).status, 201);
	const found = { resourceType: 'Patient', identifier: [{ value: 'm' }] };
	assert.equal((await client('PUT', '/Patient?identifier=m', found)).status, 201);
	assertOutcome(await client('PUT', '/Patient?identifier=m', { ...found, gender: 'male' }), 412, 'conflict');
});
