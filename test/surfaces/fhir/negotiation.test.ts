import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { newId } from '#core/id.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

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
		assertOutcome(await call(`${path}?_format=xml`), 406, 'not-supported');
	});

	test('failures are told in plain JSON to who accepts only that', async () => {
		const { status, headers } = await call(`/fhir/Patient/${newId()}`, { Accept: 'application/json' });
		assert.deepEqual([status, headers.get('content-type')], [404, plainJson]);
	});
});
