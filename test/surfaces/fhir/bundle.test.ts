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

const base = () => `http://127.0.0.1:${service.port('fhir')}/fhir`;

describe('a relative reference belongs to the server of its entry', () => {
	const foreign = 'http://other.example/fhir';
	const withId = (id: string) => condition(`Patient/${id}`);
	const held = async (id: string) => {
		const { status } = await west('PUT', `/Patient/${id}`, patient(`Local ${id}`, { id }));
		assert.equal(status, 201);
		return `Patient/${id}`;
	};
	const subjects = (reply: { body: FhirBody }) => reply.body.entry.map((entry: FhirBody) => entry.resource?.subject?.reference);

	test('and leads to the entry of the transaction that has this URL, in either order, never to the Patient of that id here', async () => {
		const local = await held('rel-1');
		const reply = await bundle('transaction', [
			post(withId('rel-1'), {}, `${foreign}/Condition/4`),
			post(patient('Remote', { id: 'rel-1' }), {}, `${foreign}/Patient/rel-1`),
			post(withId('rel-1'), {}, `${foreign}/Condition/5`),
		]);
		assert.equal(reply.status, 200, reply.text);
		const remote = `Patient/${reply.body.entry[1].resource.id}`;
		assert.notEqual(remote, local);
		assert.deepEqual(subjects(reply), [remote, undefined, remote]);
		assert.equal((await west('GET', `/Condition?patient=${local}`)).body.total, 0);
		assert.equal((await west('GET', `/Condition?patient=${remote}`)).body.total, 2);
	});

	test('also where the entry is found by a condition, or keeps its id', async () => {
		await held('rel-2');
		const right = (await west('POST', '/Patient', patient('Right', { identifier: [{ value: 'rel-right' }] }))).body.id;
		const conditional = await bundle('transaction', [
			post(patient('Remote', { id: 'rel-2' }), { ifNoneExist: 'identifier=rel-right' }, `${foreign}/Patient/rel-2`),
			post(withId('rel-2'), {}, `${foreign}/Condition/5`),
		]);
		assert.equal(subjects(conditional)[1], `Patient/${right}`, conditional.text);
		for (const type of ['transaction', 'batch']) {
			const kept = await bundle(type, [
				{
					fullUrl: `${foreign}/Patient/rel-kept`,
					resource: patient('Kept', { id: 'rel-kept' }),
					request: { method: 'PUT', url: 'Patient/rel-kept' },
				},
				post(withId('rel-kept'), {}, `${foreign}/Condition/5`),
			]);
			assert.equal(subjects(kept)[1], 'Patient/rel-kept', kept.text);
		}
	});

	test('stays absolute where it leads to no entry', async () => {
		await held('rel-3');
		for (const type of ['transaction', 'batch']) {
			const document = {
				resourceType: 'DocumentReference',
				status: 'current',
				subject: { reference: 'Patient/rel-3' },
				text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml"><a href="Patient/rel-3">x</a></div>' },
				content: [{ attachment: { url: 'Binary/1', title: 'Binary/1' } }],
			};
			const reply = await bundle(type, [
				post(withId('rel-3'), {}, `${foreign}/Condition/5`),
				post(condition('Patient/rel-3/_history/2'), {}, `${foreign}/Condition/6`),
				post(document, {}, `${foreign}/DocumentReference/7`),
			]);
			assert.equal(reply.status, 200, reply.text);
			const subject = `${foreign}/Patient/rel-3`;
			assert.deepEqual(subjects(reply), [subject, `${subject}/_history/2`, subject]);
			const { resource } = reply.body.entry[2];
			assert.deepEqual(resource.content[0].attachment, { url: `${foreign}/Binary/1`, title: 'Binary/1' });
			assert.match(resource.text.div, new RegExp(`<a href="${subject}">`));
		}
		assert.equal((await west('GET', '/Condition?patient=Patient/rel-3')).body.total, 0);
	});

	test('to a version leads to the entry that has this version', async () => {
		const reply = await bundle('transaction', [
			post(patient('Versioned', { meta: { versionId: '3' } }), {}, `${foreign}/Patient/rel-4`),
			post(condition('Patient/rel-4/_history/3'), {}, `${foreign}/Condition/5`),
			post(condition(`${foreign}/Patient/rel-4/_history/3`), {}, uuid('1')),
			post(condition('Patient/rel-4/_history/2'), {}, `${foreign}/Condition/6`),
		]);
		const { id } = reply.body.entry[0].resource;
		assert.deepEqual(subjects(reply).slice(1), [`Patient/${id}`, `Patient/${id}`, `${foreign}/Patient/rel-4/_history/2`]);
	});

	test('and of this service, or of no server, is as in any request', async () => {
		const local = await held('rel-5');
		const own = `${base()}/Condition/1`;
		for (const fullUrl of [own, uuid('1'), undefined]) {
			for (const type of ['transaction', 'batch']) {
				const reply = await bundle(type, [post(withId('rel-5'), {}, fullUrl)]);
				assert.deepEqual(subjects(reply), [local], reply.text);
			}
			assert.equal((await bundle('transaction', [post(withId('nobody'), {}, fullUrl)])).status, 422);
		}
		const moved = await bundle('transaction', [post(patient('New'), {}, `${base()}/Patient/rel-5`), post(withId('rel-5'), {}, own)]);
		assert.deepEqual(subjects(moved)[1], `Patient/${moved.body.entry[0].resource.id}`);
	});
});

describe('a transaction replaces the full URLs of its entries', () => {
	const patientUrl = 'http://other.example/fhir/Patient/1';
	for (const fullUrl of [uuid('1'), 'urn:oid:1.2.3.4', patientUrl]) {
		test(`in elements for URIs, extensions, contained resources and narratives, and nowhere else: ${fullUrl}`, async () => {
			const extensions = (url: string) => [
				{ url: 'http://example.org/uri', valueUri: url },
				{ url: 'http://example.org/url', valueUrl: url },
				{ url: 'http://example.org/canonical', valueCanonical: url },
				{ url: 'http://example.org/string', valueString: fullUrl },
				{ url: 'http://example.org/attachment', valueAttachment: { url, title: fullUrl } },
				{ url: 'http://example.org/reference', valueReference: { reference: url } },
			];
			const document = (url: string) => ({
				resourceType: 'DocumentReference',
				status: 'current',
				text: {
					status: 'generated',
					div: `<div xmlns="http://www.w3.org/1999/xhtml"><!-- <a href="${fullUrl}"> --><a href="${url}" title="${fullUrl}">${fullUrl}</a></div>`,
				},
				contained: [{ resourceType: 'Patient', id: 'c', photo: [{ url }], _gender: { extension: extensions(url) } }],
				extension: extensions(url),
				subject: { reference: url },
				content: [{ attachment: { url, title: fullUrl } }, { attachment: { title: fullUrl } }],
				identifier: [{ system: 'urn:ietf:rfc:3986', value: fullUrl }],
			});
			const reply = await bundle('transaction', [post(document(fullUrl), {}, uuid('2')), post(patient('Linked'), {}, fullUrl)]);
			assert.equal(reply.status, 200, reply.text);
			const { id: _id, meta: _meta, ...written } = reply.body.entry[0].resource;
			assert.deepEqual(written, JSON.parse(JSON.stringify(document(`Patient/${reply.body.entry[1].resource.id}`))));
		});
	}

	test('however a narrative writes them', async () => {
		const url = 'http://other.example/fhir/Patient/1';
		const div = `<div xmlns="http://www.w3.org/1999/xhtml"><a class='x' href='${url.replace('/fhir', '&#x2f;fhir')}'>a</a><img alt=" src='${url}'" src="${url}"/></div>`;
		const text = { status: 'generated', div };
		const reply = await bundle('transaction', [post(patient('Narrated', { text }), {}, url)]);
		const own = `Patient/${reply.body.entry[0].resource.id}`;
		assert.equal(
			reply.body.entry[0].resource.text.div,
			`<div xmlns="http://www.w3.org/1999/xhtml"><a class='x' href="${own}">a</a><img alt=" src='${url}'" src="${own}"/></div>`,
		);
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

	test('reads what has changed, and says 304 for what has not', async () => {
		const { id, meta } = (await west('POST', '/Patient', patient('Read'))).body;
		const before = new Date(Date.parse(meta.lastUpdated) - 1).toISOString();
		const conditions = [
			{ ifModifiedSince: meta.lastUpdated },
			{ ifModifiedSince: before },
			{ ifNoneMatch: 'W/"1"' },
			{ ifNoneMatch: 'W/"2"', ifModifiedSince: meta.lastUpdated },
		];
		for (const type of ['batch', 'transaction']) {
			const reply = await bundle(
				type,
				conditions.map((more) => ({ request: { method: 'GET', url: `Patient/${id}`, ...more } })),
			);
			const told = reply.body.entry.map((entry: FhirBody) => [entry.response.status.slice(0, 3), entry.resource?.id]);
			const unchanged = ['304', undefined];
			assert.deepEqual(told, [unchanged, ['200', id], unchanged, ['200', id]], reply.text);
		}
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
