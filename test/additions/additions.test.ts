import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BulkClient } from '#test/support/bulk.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import type { FhirBody } from '#test/support/service.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { CopiedTree } from './copied-tree.ts';

/**
 * CONTRIBUTING.md says that a resource type, a kind of change and an HL7 v2 event are one file and one row each. Here orders are added
 * so to a copy of the product: ServiceRequest, which ORM^O01 creates and updates by a kind of change of its own.
 */

const resources = 'src/fhir/resources/index.ts';
const kinds = 'src/record/kinds/index.ts';
const events = 'src/hl7v2/events/index.ts';

const optedIn = '127.0.0.1';
const notOptedIn = '127.0.0.2';

let tree: CopiedTree;
let migration: string;
let database: TestDatabase;
let service: ServiceProcess;
let fhir: FhirCall;
let bulk: BulkClient;

before(async () => {
	tree = new CopiedTree();
	tree.addFile('src/fhir/resources/service-request.ts', 'service-request.resource.txt');
	tree.addRow(resources, 'serviceRequest', './service-request.ts');
	migration = tree.addMigration('service-requests', 'service-requests.migration.txt');
	tree.addFile('src/record/kinds/service-order.ts', 'service-order.change.txt');
	tree.addRow(kinds, 'serviceOrderKind', './service-order.ts');
	tree.addFile('src/hl7v2/events/orm-o01.ts', 'orm-o01.event.txt');
	tree.addRow(events, 'ormO01', './orm-o01.ts');

	// It has the tables of the product as it stands: the migration that was added runs when the service starts.
	database = await testDatabase();
	const settings = { DATABASE_URL: database.url, WORKERS: '1', NODE_COMPILE_CACHE: `${tree.root}/.compiled` };
	service = new ServiceProcess(settings, tree.root);
	await service.start();
	const sender = ['client', 'add', '--site', 'north', '--protocol', 'hl7-mllp'];
	const created = await service.commands(
		['site', 'add', 'north', '--name', 'North'],
		['user', 'add', 'ann@example.org', '--admin'],
		[...sender, '--name', 'orders', '--allow-ip', optedIn, '--also', 'O01,A37'],
		[...sender, '--name', 'admission', '--allow-ip', notOptedIn],
		['key', 'create', '--site', 'north', '--owner', 'ann@example.org'],
	);
	const { key } = created.at(-1);
	fhir = fhirClient(service, key);
	bulk = new BulkClient(service, key);
});

after(async () => {
	await service?.[Symbol.asyncDispose]();
	await database?.[Symbol.asyncDispose]();
	tree?.[Symbol.dispose]();
});

async function command(...parameters: string[]): Promise<FhirBody> {
	const { code, stdout, stderr } = await service.cli(...parameters, '--json');
	assert.equal(code, 0, stderr);
	return JSON.parse(stdout);
}

async function fetched(surface: string, path: string): Promise<string> {
	return (await fetch(`http://127.0.0.1:${service.port(surface)}${path}`)).text();
}

let sent = 0;

async function send(type: string, from: string, ...segments: string[]): Promise<string> {
	const client = await MllpClient.connect(service.port('mllp'), from);
	try {
		sent += 1;
		const header = `MSH|^~\\&|RIS|HOSPITAL|TRIBUTARY|SITE|20260101120000+0000||${type}|${sent}|P|2.5.1`;
		return await client.send([header, ...segments, ''].join('\r'));
	} finally {
		client.close();
	}
}

const person = (patient: string) => `PID|1||${patient}^^^MRN^MR||Lovemore^Ada||19700131|F`;

/** An ORM^O01 of a client that opted in, which is accepted. */
async function order(patient: string, number: string, control = 'NW'): Promise<void> {
	const service = `OBR|1|${number}^RIS||CTHEAD^CT of the head^L||20260101113000+0000`;
	const answer = await send('ORM^O01', optedIn, person(patient), `ORC|${control}|${number}^RIS`, service);
	assert.equal(msa(answer).code, 'AA', answer);
}

async function accepted(type: string, ...segments: string[]): Promise<void> {
	const answer = await send(type, optedIn, ...segments);
	assert.equal(msa(answer).code, 'AA', answer);
}

async function found(path: string): Promise<FhirBody[]> {
	const { status, body } = await fhir('GET', path);
	assert.equal(status, 200, JSON.stringify(body));
	return (body.entry ?? []).map(({ resource }: FhirBody) => resource);
}

async function patientId(patient: string): Promise<string> {
	const [one, ...others] = await found(`/Patient?identifier=${patient}&active=true`);
	assert.equal(others.length, 0);
	return one.id;
}

/** Numbers of the orders of a patient. */
async function ordersOf(patient: string): Promise<string[]> {
	return numbersOf(await found(`/ServiceRequest?patient=${patient}`));
}

function numbersOf(requests: FhirBody[]): string[] {
	return requests.map(({ identifier }) => identifier[0].value).sort();
}

describe('a resource type, a kind of change and an HL7 v2 event that are added to the product', () => {
	test('are a file and a row each, and a migration', () => {
		assert.deepEqual(tree.differences(), {
			added: ['src/fhir/resources/service-request.ts', 'src/hl7v2/events/orm-o01.ts', 'src/record/kinds/service-order.ts', migration],
			changed: {
				[resources]: ["import { serviceRequest } from './service-request.ts';", '\tserviceRequest,'],
				[kinds]: ["import { serviceOrderKind } from './service-order.ts';", '\tserviceOrderKind,'],
				[events]: ["import { ormO01 } from './orm-o01.ts';", '\tormO01,'],
			},
		});
	});

	test('compile with all that is made of the tables', async () => {
		assert.equal(await tree.typeErrors(), '');
	});

	test('stand in the capability statement and in the description of the API', async () => {
		const { body: statement } = await fhir('GET', '/metadata');
		const served = statement.rest[0].resource.find(({ type }: FhirBody) => type === 'ServiceRequest');
		assert.deepEqual(
			served.interaction.map(({ code }: FhirBody) => code),
			['read', 'vread', 'history-instance', 'history-type', 'search-type', 'create', 'update', 'patch'],
		);
		const names = served.searchParam.map(({ name }: FhirBody) => name);
		for (const name of ['patient', 'subject', 'encounter', 'identifier', 'code', 'status', 'authored'])
			assert.ok(names.includes(name), name);

		const { paths } = JSON.parse(await fetched('fhir', '/api/documentation/openapi.json'));
		const { get, post } = paths['/fhir/ServiceRequest'];
		assert.ok(get.parameters.some(({ name }: FhirBody) => name === 'authored'));
		assert.equal(post.requestBody.content['application/fhir+json'].example.resourceType, 'ServiceRequest');
		assert.ok('/fhir/ServiceRequest/{id}' in paths);
	});

	test('are created, validated, read and found by FHIR clients', async () => {
		const { body: subject } = await fhir('POST', '/Patient', { resourceType: 'Patient', identifier: [{ system: 'urn:x', value: 'F1' }] });
		const request = {
			resourceType: 'ServiceRequest',
			identifier: [{ system: 'urn:x', value: 'F-ORDER' }],
			status: 'draft',
			intent: 'order',
			code: { coding: [{ system: 'http://loinc.org', code: '24725-4' }] },
			subject: { reference: `Patient/${subject.id}` },
			authoredOn: '2026-02-03',
		};
		const { intent, ...incomplete } = request;
		assert.equal((await fhir('POST', '/ServiceRequest', incomplete)).status, 400, intent);
		const created = await fhir('POST', '/ServiceRequest', request);
		assert.equal(created.status, 201, created.text);
		const { id } = created.body;
		assert.deepEqual((await fhir('GET', `/ServiceRequest/${id}`)).body.code, request.code);
		for (const query of ['status=draft', 'code=24725-4', 'authored=2026-02', 'identifier=urn:x|F-ORDER', `subject=Patient/${subject.id}`]) {
			assert.deepEqual(numbersOf(await found(`/ServiceRequest?${query}`)), ['F-ORDER'], query);
		}
		assert.deepEqual(await found('/ServiceRequest?status=draft&authored=2025'), []);
	});

	test('the event makes the resource, and finds it again by its key', async () => {
		await order('E1', 'E-1');
		await order('E1', 'E-1');
		await order('E1', 'E-2');
		await order('E1', 'E-1', 'CA');
		const patient = await patientId('E1');
		assert.deepEqual(await ordersOf(patient), ['E-1', 'E-2']);
		const [revoked] = await found(`/ServiceRequest?patient=${patient}&status=revoked`);
		assert.deepEqual([revoked.identifier[0].value, revoked.meta.versionId, revoked.code.text], ['E-1', '2', 'CT of the head']);
	});

	test('what a FHIR client or an import wrote is found by the event, too', async () => {
		await order('K1', 'K-1');
		const patient = await patientId('K1');
		const [{ id: _id, meta: _meta, ...known }] = await found(`/ServiceRequest?patient=${patient}`);
		const numbered = (value: string) => ({ ...known, identifier: [{ ...known.identifier[0], value }] });
		assert.equal((await fhir('POST', '/ServiceRequest', numbered('K-2'))).status, 201);
		const { output } = await bulk.manifest(await bulk.startImport([{ ...numbered('K-3'), id: 'imported' }]));
		assert.ok(output !== undefined);
		for (const number of ['K-2', 'K-3']) await order('K1', number, 'CA');
		assert.deepEqual(numbersOf(await found(`/ServiceRequest?patient=${patient}&status=revoked`)), ['K-2', 'K-3']);
		assert.deepEqual(await ordersOf(patient), ['K-1', 'K-2', 'K-3']);
	});

	test('a client that did not opt in is answered that the event is not supported, not that its message type is not', async () => {
		const answer = await send('ORM^O01', notOptedIn, person('N1'), 'OBR|1|N-1^RIS||CTHEAD');
		assert.equal(msa(answer).code, 'AE');
		assert.match(answer, /\rERR\|[^\r]*\|201\^Unsupported event code/);
		assert.deepEqual(await found('/Patient?identifier=N1'), []);
	});

	test('a merge moves the resource to the survivor, as its preview says, and an unlink gives it back', async () => {
		await order('M1', 'M-1');
		await order('M2', 'M-2');
		const [survivor, prior] = [await patientId('M1'), await patientId('M2')];
		const { moves } = await command('identity', 'preview', '--site', 'north', '--survivor', survivor, '--prior', prior);
		assert.deepEqual(moves, [{ type: 'ServiceRequest', count: 1 }]);

		await accepted('ADT^A40', 'EVN|A40|20260101120000+0000', person('M1'), 'MRG|M2^^^MRN^MR');
		const ofBoth = ['M-1', 'M-2'];
		assert.deepEqual(
			[await ordersOf(survivor), await ordersOf(prior)],
			[ofBoth, ofBoth],
			'a search for the prior patient means the survivor',
		);
		// The next message of the order speaks of what the survivor has now, under either number.
		await order('M2', 'M-2', 'CA');
		assert.deepEqual(numbersOf(await found(`/ServiceRequest?patient=${survivor}&status=revoked`)), ['M-2']);
		assert.deepEqual(await ordersOf(survivor), ['M-1', 'M-2']);

		await accepted('ADT^A37', 'EVN|A37|20260101120000+0000', person('M1'), person('M2'));
		assert.deepEqual([await ordersOf(survivor), await ordersOf(prior)], [['M-1'], ['M-2']]);
	});

	test('$everything, $export and the page of the patient have the resource', async () => {
		await order('P1', 'P-1');
		const patient = await patientId('P1');
		const everything = await found(`/Patient/${patient}/$everything`);
		assert.deepEqual(everything.map(({ resourceType }) => resourceType).sort(), ['Patient', 'ServiceRequest']);

		const exported = (await bulk.exported('/$export?_type=ServiceRequest')).get('ServiceRequest') ?? [];
		assert.ok(numbersOf(exported.map((line) => JSON.parse(line))).includes('P-1'));

		const page = await command('patient', 'show', patient, '--site', 'north');
		assert.deepEqual(page.lists.at(-1), { list: 'orders', title: 'Orders', noun: 'order' });
		const [{ id: _id, origin, ...row }] = page.orders;
		assert.deepEqual(row, { at: '2026-01-01T11:30:00+00:00', code: 'CTHEAD', text: 'CT of the head', status: 'active', detail: '' });
		assert.equal(origin.version, 1);
	});

	test('metrics are labelled with them, and the console names the event', async () => {
		const metrics = await fetched('ops', '/metrics');
		assert.match(metrics, /^tributary_hl7_messages_total\{surface="mllp",type="ORM\^O01",outcome="accepted"\} \d+$/m);
		assert.match(metrics, /^tributary_fhir_writes_total\{type="ServiceRequest",outcome="accepted"\} \d+$/m);
		assert.match(await fetched('admin', '/'), /<meta name="hl7v2-optional-events" content="[^"]*\bO01\b[^"]*">/);
	});
});
