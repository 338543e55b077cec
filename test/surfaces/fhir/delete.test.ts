import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { listAudit } from '#administration/audit.ts';
import { mergePatients, unmergePatients } from '#administration/identity.ts';
import { setSite } from '#administration/sites.ts';
import { BulkClient } from '#test/support/bulk.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { linkOf } from '#test/support/fhir-sample.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let key: string;
let west: FhirCall;
let east: FhirCall;

before(async () => {
	service = await testService();
	key = (await service.addSite('west')).key;
	west = fhirClient(service, key);
	east = fhirClient(service, (await service.addSite('east')).key);
	await setSite(service.administration, { slug: 'west', deletes: true });
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

const practitioner = (id: string, more: object = {}) => ({ resourceType: 'Practitioner', id, ...more });
const put = async (body: { resourceType: string; id: string }, status = 201) => {
	const reply = await west('PUT', `/${body.resourceType}/${body.id}`, body);
	assert.equal(reply.status, status, reply.text);
	return reply;
};
const remove = async (path: string, status = 204, headers: Record<string, string> = {}) => {
	const reply = await west('DELETE', `/${path}`, undefined, headers);
	assert.equal(reply.status, status, reply.text);
	return reply;
};
const idsOf = async (search: string): Promise<string[]> => {
	const { status, body, text } = await west('GET', `/${search}`);
	assert.equal(status, 200, text);
	return (body.entry ?? []).map(({ resource }: FhirBody) => resource.id).sort();
};

describe('a resource that a client deletes', () => {
	test('answers 410, keeps its versions, is listed as deleted, and comes back by an update', async () => {
		await put(practitioner('gone', { active: true }));
		const deleted = await remove('Practitioner/gone', 204, { 'If-Match': 'W/"1"' });
		assert.equal(deleted.headers.get('etag'), 'W/"2"');
		assert.equal(deleted.text, '');
		for (const path of ['', '/_history/2']) {
			const reply = await west('GET', `/Practitioner/gone${path}`);
			assert.equal(reply.status, 410, path);
			assert.equal(reply.body.issue[0].code, 'deleted');
		}
		assert.equal((await west('GET', '/Practitioner/gone/_history/1')).body.active, true);
		assert.equal((await west('HEAD', '/Practitioner/gone')).status, 410);
		assert.equal((await west('GET', '/Practitioner/gone/$validate')).status, 410);
		assert.equal((await west('PATCH', '/Practitioner/gone', [{ op: 'add', path: '/active', value: false }])).status, 410);
		assert.equal((await east('GET', '/Practitioner/gone')).status, 404);
		await remove('Practitioner/gone');
		const back = await put(practitioner('gone', { active: false }));
		assert.equal(back.headers.get('etag'), 'W/"3"');
		assert.equal((await west('GET', '/Practitioner/gone')).body.active, false);
		const told = [];
		for (let url: string | undefined = '/Practitioner/gone/_history?_count=1'; url !== undefined; ) {
			const reply = await west('GET', url);
			told.push(...reply.body.entry.map(({ request, response, resource }: FhirBody) => [request.method, response.etag, resource?.active]));
			url = linkOf(reply, 'next')?.split('/fhir')[1];
		}
		assert.deepEqual(told, [
			['PUT', 'W/"3"', false],
			['DELETE', 'W/"2"', undefined],
			['PUT', 'W/"1"', true],
		]);
	});

	test('is not found by searches, includes, chains, `_has`, compartments, `$everything` and exports', async () => {
		const name = [{ family: 'Vanished' }];
		await put({ resourceType: 'Patient', id: 'pat' } as never);
		await put(practitioner('who', { name }));
		const role = { resourceType: 'PractitionerRole', id: 'role', practitioner: { reference: 'Practitioner/who' } };
		await put(role);
		const performer = [{ actor: { reference: 'Practitioner/who' } }];
		const vaccineCode = { text: 'x' };
		const shot = { status: 'completed', vaccineCode, occurrenceString: 'x', patient: { reference: 'Patient/pat' }, performer };
		await put({ resourceType: 'Immunization', id: 'shot', ...shot } as never);
		const searches = [
			['Practitioner?name=vanished', ['who']],
			['Practitioner?_id=who', ['who']],
			['Practitioner?_has:PractitionerRole:practitioner:_id=role', ['who']],
			['PractitionerRole?_id=role&_include=PractitionerRole:practitioner', ['role', 'who']],
			['PractitionerRole?practitioner.name=vanished', ['role']],
			['Immunization?patient=pat', ['shot']],
			['Patient/pat/Immunization', ['shot']],
			['Patient/pat/$everything', ['pat', 'shot', 'who']],
			['Patient?_has:Immunization:patient:status=completed', ['pat']],
		] as const;
		for (const [search, ids] of searches) assert.deepEqual(await idsOf(search), ids, search);
		for (const path of ['Practitioner/who', 'Immunization/shot']) await remove(path);
		for (const [search, ids] of searches) {
			const left = search.startsWith('Patient/pat/$') ? ['pat'] : search.includes('_include') ? ['role'] : [];
			assert.deepEqual(await idsOf(search), left, `${search} ${ids}`);
		}
		assert.equal((await west('GET', '/Practitioner?_summary=count&_id=who')).body.total, 0);
		assert.equal((await west('GET', '/PractitionerRole/role')).body.practitioner.reference, 'Practitioner/who', 'references are left');
		const exported = await new BulkClient(service, key).exported();
		assert.ok(!exported.has('Immunization'));
		assert.ok(!exported.get('Practitioner')?.some((line) => line.includes('Vanished')));
		await put(practitioner('who', { name }));
		assert.deepEqual(await idsOf('PractitionerRole?practitioner.name=vanished'), ['role']);
	});

	test('stays deleted when its patient is merged, and when the merge is undone', async () => {
		const identifier = (value: string) => [{ system: 'urn:oid:1.2.3', value }];
		await put({ resourceType: 'Patient', id: 'kept', identifier: identifier('K') } as never);
		await put({ resourceType: 'Patient', id: 'prior', identifier: identifier('P') } as never);
		const task = (id: string, patient: string) => ({
			...{ resourceType: 'Task', id, status: 'requested', intent: 'order' },
			for: { reference: `Patient/${patient}` },
		});
		await put(task('merged-then-deleted', 'prior'));
		await put(task('deleted', 'prior'));
		await remove('Task/deleted');
		const merge = { site: 'west', prior: 'prior', survivor: 'kept' };
		await mergePatients(service.administration, merge);
		assert.equal((await west('GET', '/Task/deleted')).status, 410);
		assert.deepEqual(await idsOf('Task?patient=kept'), ['merged-then-deleted']);
		await remove('Task/merged-then-deleted');
		await unmergePatients(service.administration, merge);
		for (const id of ['deleted', 'merged-then-deleted']) assert.equal((await west('GET', `/Task/${id}`)).status, 410);
		await put(task('deleted', 'kept'));
		assert.deepEqual(await idsOf('Task?patient=kept'), ['deleted']);
		assert.deepEqual(await idsOf('Task?patient=prior'), []);
	});

	test('is deleted by a condition that matches it alone', async () => {
		const system = 'urn:oid:1.2.3.4';
		for (const value of ['1', '2']) await put(practitioner(`by-${value}`, { identifier: [{ system, value }] }));
		const several = await remove(`Practitioner?identifier=${system}|`, 412);
		assert.equal(several.body.issue[0].code, 'multiple-matches');
		await remove('Practitioner', 400);
		await remove('Practitioner?_count=1', 412);
		await remove(`Practitioner?identifier=${system}|none`);
		const told = await remove(`Practitioner?identifier=${system}|1`, 200, { Prefer: 'return=OperationOutcome' });
		assert.equal(told.body.resourceType, 'OperationOutcome');
		assert.deepEqual(await idsOf(`Practitioner?identifier=${system}|`), ['by-2']);
		const again = await west('POST', '/Practitioner', practitioner('x', { identifier: [{ system, value: '1' }] }), {
			'If-None-Exist': `identifier=${system}|1`,
		});
		assert.equal(again.status, 201, 'a deleted one is no match');
	});

	test('is deleted by an entry of a batch, and by one of a transaction together with the others', async () => {
		for (const id of ['in-batch', 'in-transaction']) await put(practitioner(id));
		const send = (type: string, ...requests: object[]) =>
			west('POST', '', { resourceType: 'Bundle', type, entry: requests.map((request) => ({ request })) });
		const statuses = ({ body }: { body: FhirBody }) => body.entry.map(({ response }: FhirBody) => response.status.slice(0, 3));
		const batch = await send(
			'batch',
			{ method: 'DELETE', url: 'Practitioner/in-batch' },
			{ method: 'DELETE', url: 'Patient/pat' },
			{ method: 'DELETE', url: 'Practitioner/in-transaction', ifMatch: 'W/"7"' },
			{ method: 'GET', url: 'Practitioner/in-batch' },
		);
		assert.deepEqual(statuses(batch), ['204', '405', '412', '410']);
		assert.equal(batch.body.entry[0].response.etag, 'W/"2"');
		const refused = await send(
			'transaction',
			{ method: 'DELETE', url: 'Practitioner/in-transaction' },
			{ method: 'DELETE', url: 'Patient/pat' },
		);
		assert.equal(refused.status, 405, refused.text);
		assert.equal((await west('GET', '/Practitioner/in-transaction')).status, 200);
		const accepted = await send('transaction', { method: 'DELETE', url: 'Practitioner?_id=in-transaction' });
		assert.deepEqual(statuses(accepted), ['204']);
		assert.equal((await west('GET', '/Practitioner/in-transaction')).status, 410);
	});

	test('is brought back by an import', async () => {
		await put(practitioner('imported', { active: true }));
		await remove('Practitioner/imported');
		const bulk = new BulkClient(service, key);
		await bulk.manifest(await bulk.startImport([practitioner('imported', { active: false })]));
		const { body } = await west('GET', '/Practitioner/imported');
		assert.deepEqual([body.active, body.meta.versionId], [false, '3']);
	});

	test('stands in the audit trail and in the history of its type', async () => {
		await put(practitioner('traced'));
		const since = (await west('GET', '/Practitioner/traced')).body.meta.lastUpdated;
		await remove('Practitioner/traced');
		const events = await listAudit(service.administration, { action: 'resource.delete', limit: 100 });
		assert.ok(events.some(({ subject, actor }) => subject === 'Practitioner/traced' && actor.startsWith('key:')));
		const { body } = await west('GET', `/Practitioner/_history?_since=${since}`);
		assert.deepEqual(
			body.entry.map(({ request }: FhirBody) => request),
			[
				{ method: 'DELETE', url: 'Practitioner/traced' },
				{ method: 'PUT', url: 'Practitioner/traced' },
			],
		);
	});
});

describe('a deletion is refused', () => {
	test('of the types that the service writes itself, and at a site that does not permit it', async () => {
		for (const [call, path, allow, told] of [
			[west, '/Patient/pat', 'GET, HEAD, PATCH, PUT', 'clinical resources are kept'],
			[west, '/Patient?_id=pat', 'GET, HEAD, PATCH, POST, PUT', 'clinical resources are kept'],
			[west, '/DiagnosticReport/x', 'GET, HEAD', 'clinical resources are kept'],
			[east, '/Practitioner/who', 'GET, HEAD, PATCH, PUT', 'the setting deletes of the site'],
		] as const) {
			const reply = await call('DELETE', path);
			assert.equal(reply.status, 405, path);
			assert.equal(reply.headers.get('allow'), allow, path);
			assert.ok(reply.text.includes(told), reply.text);
		}
		const declared = async (call: FhirCall) =>
			(await call('GET', '/metadata')).body.rest[0].resource.filter(({ conditionalDelete }: FhirBody) => conditionalDelete === 'single')
				.length;
		assert.equal(await declared(east), 0);
		assert.ok((await declared(west)) > 100);
	});
});
