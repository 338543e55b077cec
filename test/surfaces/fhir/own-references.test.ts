import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { type TestService, testService } from '#test/support/service.ts';

describe('references by the address of this service', () => {
	let service: TestService;
	let call: FhirCall;
	let base: string;
	let key: string;

	before(async () => {
		service = await testService();
		key = (await service.addSite('west')).key;
		call = fhirClient(service, key);
		base = `http://127.0.0.1:${service.port('fhir')}/fhir`;
		assert.equal((await call('PUT', '/Patient/p', { resourceType: 'Patient', id: 'p' })).status, 201);
	});

	after(() => service[Symbol.asyncDispose]());

	const observation = (reference: string) => ({
		...{ resourceType: 'Observation', status: 'final', code: { text: 'x' } },
		subject: { reference },
	});
	const found = async (id: string) => {
		const { body } = await call('GET', `/Observation?subject=Patient/p&_id=${id}`);
		return body.total;
	};

	test('lead to the resource as relative ones do, in creates, updates and patches', async () => {
		const created = await call('POST', '/Observation', observation(`${base}/Patient/p`));
		assert.equal(created.status, 201);
		assert.equal(created.body.subject.reference, 'Patient/p');
		assert.equal(await found(created.body.id), 1);
		const updated = await call('PUT', '/Observation/o', { ...observation(`${base}/Patient/p`), id: 'o' });
		assert.equal(updated.body.subject.reference, 'Patient/p');
		assert.equal(await found('o'), 1);
		const none = await call('PUT', '/Observation/n', { ...observation('http://other.example/fhir/Patient/p'), id: 'n' });
		assert.equal(none.body.subject.reference, 'http://other.example/fhir/Patient/p');
		const patch = [{ op: 'replace', path: '/subject/reference', value: `${base}/Patient/p` }];
		const patched = await call('PATCH', '/Observation/n', patch, { 'Content-Type': 'application/json-patch+json' });
		assert.equal(patched.status, 200, JSON.stringify(patched.body));
		assert.equal(await found('n'), 1);
	});

	test('are read where JSON has its slashes escaped', async () => {
		const response = await fetch(`${base}/Observation`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'application/fhir+json' },
			body: JSON.stringify(observation(`${base}/Patient/p`)).replaceAll('/', '\\/'),
		});
		assert.equal(response.status, 201);
		const { subject } = (await response.json()) as { subject: { reference: string } };
		assert.equal(subject.reference, 'Patient/p');
	});

	test('are checked as relative ones are', async () => {
		const { status, body } = await call('POST', '/Observation', observation(`${base}/Patient/nobody`));
		assert.equal(status, 422, JSON.stringify(body));
	});

	test('in a transaction lead to an entry of this full URL, else to the resource that is there', async () => {
		const entry = [
			{
				fullUrl: `${base}/Patient/temporary`,
				resource: { resourceType: 'Patient', active: true },
				request: { method: 'POST', url: 'Patient' },
			},
			{ resource: observation(`${base}/Patient/temporary`), request: { method: 'POST', url: 'Observation' } },
			{ resource: observation(`${base}/Patient/p`), request: { method: 'POST', url: 'Observation' } },
		];
		const { status, body } = await call('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
		assert.equal(status, 200, JSON.stringify(body));
		const locations = body.entry.map(({ response }: { response: { location: string } }) => response.location);
		const [patient, first, second] = locations.map((location: string) => /([A-Z]\w+\/[^/]+)\/_history/.exec(location)?.[1]);
		const subjectOf = async (id: string) => (await call('GET', `/${id}`)).body.subject.reference;
		assert.equal(await subjectOf(first), patient);
		assert.equal(await subjectOf(second), 'Patient/p');
	});
});
