import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let west: FhirCall;

before(async () => {
	service = await testService();
	west = fhirClient(service, (await service.addSite('west')).key);
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

interface Entry {
	fullUrl?: string;
	resource?: object;
	request?: object;
}

const bundle = (type: string, entry: Entry[]) => west('POST', '', { resourceType: 'Bundle', type, entry });
const post = (resource: { resourceType: string }, more: object = {}, fullUrl?: string): Entry => ({
	...(fullUrl === undefined ? {} : { fullUrl }),
	resource,
	request: { method: 'POST', url: resource.resourceType, ...more },
});
const patient = (name: string, more: object = {}) => ({ resourceType: 'Patient', name: [{ text: name }], ...more });
const condition = (reference: string) => ({
	resourceType: 'Condition',
	clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }] },
	code: { text: 'x' },
	subject: { reference },
});
const countOf = async (type: string) => (await west('GET', `/${type}?_summary=count`)).body.total as number;
const uuid = (last: string) => `urn:uuid:00000000-0000-4000-8000-00000000000${last}`;

describe('a transaction', () => {
	test('resolves what its entries call one another, whatever their order, and answers each', async () => {
		const reply = await bundle('transaction', [
			post(condition(uuid('1')), {}, uuid('2')),
			post(patient('Anna', { link: [{ other: { reference: uuid('3') }, type: 'seealso' }] }), {}, uuid('1')),
			post(patient('Bea'), {}, uuid('3')),
			{ request: { method: 'GET', url: 'Patient?name=bea' } },
			{ resource: patient('Chosen', { id: 'tx-own' }), request: { method: 'PUT', url: 'Patient/tx-own' } },
		]);
		assert.equal(reply.status, 200, reply.text);
		assert.equal(reply.body.type, 'transaction-response');
		const entries: FhirBody[] = reply.body.entry;
		assert.deepEqual(
			entries.map((entry) => entry.response.status),
			['201 Created', '201 Created', '201 Created', '200 OK', '201 Created'],
		);
		assert.equal(entries[0].resource.subject.reference, `Patient/${entries[1].resource.id}`);
		assert.equal(entries[1].resource.link[0].other.reference, `Patient/${entries[2].resource.id}`);
		assert.equal(entries[1].response.location, `Patient/${entries[1].resource.id}/_history/1`);
		assert.equal(entries[1].response.etag, 'W/"1"');
		assert.equal(entries[3].resource.entry[0].resource.id, entries[2].resource.id);
		assert.equal((await west('GET', `/Condition?patient=${entries[1].resource.id}`)).body.entry.length, 1);
		assert.equal((await west('GET', '/Patient/tx-own')).status, 200);
	});

	test('of which one entry is refused leaves nothing, and names the entry', async () => {
		const before = await countOf('Patient');
		const refusals: [Entry, number][] = [
			[post({ resourceType: 'Nothing' }), 404],
			[post(condition('Patient/none')), 422],
			[post(condition(uuid('9'))), 422],
			[{ resource: patient('x'), request: { method: 'PUT', url: 'Patient/y', ifMatch: 'W/"3"' } }, 412],
			[{ request: { method: 'DELETE', url: 'Patient/tx-own' } }, 405],
			[post(patient('x'), { ifNoneExist: 'name=twice' }), 412],
			[{ resource: patient('x') }, 400],
			[post({ resourceType: 'DiagnosticReport' }), 405],
		];
		await west('POST', '/Patient', patient('twice'));
		await west('POST', '/Patient', patient('twice'));
		for (const [entry, status] of refusals) {
			const reply = await bundle('transaction', [post(patient('lost')), entry]);
			assert.equal(reply.status, status, reply.text);
			assert.equal(reply.body.resourceType, 'OperationOutcome');
		}
		assert.equal(await countOf('Patient'), before + 2);
		assert.equal((await west('GET', '/Patient?name=lost')).body.total, 0);
	});

	test('finds what a condition matches, and refuses two entries about one resource', async () => {
		const found = (await west('POST', '/Patient', patient('found', { identifier: [{ value: 'tx1' }] }))).body.id;
		const reply = await bundle('transaction', [
			post(condition(uuid('1'))),
			post(patient('not this', { identifier: [{ value: 'tx1' }] }), { ifNoneExist: 'identifier=tx1' }, uuid('1')),
		]);
		assert.equal(reply.status, 200, reply.text);
		assert.equal(reply.body.entry[0].resource.subject.reference, `Patient/${found}`);
		assert.equal(reply.body.entry[1].response.status, '200 OK');
		const twice = { resource: patient('a', { id: 'two' }), request: { method: 'PUT', url: 'Patient/two' } };
		assert.equal((await bundle('transaction', [twice, twice])).status, 400);
		const same = post(patient('b'), { ifNoneExist: 'identifier=nobody' });
		assert.equal((await bundle('transaction', [same, same])).status, 400);
		assert.equal((await bundle('transaction', [post(patient('c'), {}, uuid('1')), post(patient('d'), {}, uuid('1'))])).status, 400);
	});

	test('patches by a Binary', async () => {
		const { id } = (await west('POST', '/Patient', patient('Before'))).body;
		const data = Buffer.from(JSON.stringify([{ op: 'replace', path: '/name/0/text', value: 'After' }])).toString('base64');
		const resource = { resourceType: 'Binary', contentType: 'application/json-patch+json', data };
		const reply = await bundle('transaction', [{ resource, request: { method: 'PATCH', url: `Patient/${id}` } }]);
		assert.equal(reply.body.entry[0].resource.name[0].text, 'After', reply.text);
	});

	test('many at once of one site are each whole', async () => {
		const one = (n: number) =>
			bundle('transaction', [
				post(patient(`whole ${n}`), {}, uuid('1')),
				post(condition(uuid('1'))),
				...(n % 3 === 0 ? [post(condition('Patient/none'))] : []),
			]);
		const replies = await Promise.all(Array.from({ length: 30 }, (_, n) => one(n)));
		assert.deepEqual(
			replies.map(({ status }) => status),
			Array.from({ length: 30 }, (_, n) => (n % 3 === 0 ? 422 : 200)),
		);
		assert.equal((await west('GET', '/Patient?name=whole&_summary=count')).body.total, 20);
	});
});

describe('a batch', () => {
	test('carries out each entry by itself, in its place', async () => {
		const reply = await bundle('batch', [
			post(patient('Batch One')),
			post({ resourceType: 'Nothing' }),
			post(condition('Patient/none')),
			{ request: { method: 'GET', url: 'Patient?name=batch%20one' } },
			{ request: { method: 'GET', url: 'Patient/none' } },
			{ request: { method: 'DELETE', url: 'Patient/none' } },
			post(patient('Batch Two'), { ifNoneExist: 'identifier=b2' }),
			{ resource: patient('no request') },
		]);
		assert.equal(reply.status, 200, reply.text);
		assert.equal(reply.body.type, 'batch-response');
		const statuses = reply.body.entry.map((entry: FhirBody) => entry.response.status.slice(0, 3));
		assert.deepEqual(statuses, ['201', '404', '422', '200', '404', '405', '201', '400']);
		for (const index of [1, 2, 4, 5, 7]) assert.equal(reply.body.entry[index].response.outcome.resourceType, 'OperationOutcome');
		assert.equal(reply.body.entry[3].resource.total, 1);
	});

	test('does not find later what an earlier entry made twice', async () => {
		const entry = post(patient('once', { identifier: [{ value: 'once' }] }), { ifNoneExist: 'identifier=once' });
		const reply = await bundle('batch', [entry, entry, entry]);
		assert.deepEqual(
			reply.body.entry.map((part: FhirBody) => part.response.status),
			['201 Created', '200 OK', '200 OK'],
		);
	});

	test('empty, too long, of another type or shape', async () => {
		assert.deepEqual((await bundle('batch', [])).body, { resourceType: 'Bundle', type: 'batch-response' });
		assert.equal((await bundle('transaction', [])).body.type, 'transaction-response');
		assert.equal((await bundle('searchset', [])).status, 400);
		assert.equal((await west('POST', '', patient('x'))).status, 400);
		assert.equal((await west('POST', '', { resourceType: 'Bundle', type: 'batch', entry: {} })).status, 400);
		assert.equal(
			(
				await bundle(
					'batch',
					Array.from({ length: 5001 }, () => ({ request: { method: 'GET', url: 'Patient' } })),
				)
			).status,
			413,
		);
	});
});

test('texts that no index takes are kept, and found where they are codes', async () => {
	const long = 'ü'.repeat(5000);
	const code = { coding: [{ code: 'a' }, { system: 'urn:x', code: long }, { code: `${long}b` }] };
	const { body } = await west('POST', '/Observation', { resourceType: 'Observation', status: 'final', code });
	assert.equal(body.code.coding[1].code, long);
	const found = await west('POST', '/Observation/_search', `code=${encodeURIComponent(`urn:x|${long}`)}`, {
		'Content-Type': 'application/x-www-form-urlencoded',
	});
	assert.equal(found.body.entry?.[0].resource.id, body.id);
	const kept = await west('POST', '/Patient', {
		resourceType: 'Patient',
		identifier: [{ value: long }, { system: 'urn:mrn', value: 'beside-long' }],
	});
	assert.equal(kept.status, 201, kept.text);
	assert.equal((await west('GET', '/Patient?identifier=beside-long')).body.entry[0].resource.identifier[0].value, long);
});
