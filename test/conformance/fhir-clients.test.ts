import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import { MedplumClient } from '@medplum/core';
import { Client as FhirKitClient } from 'fhir-kit-client';
import { addIssuer } from '#administration/issuers.ts';
import { clientId, jwtAudience, type TestProvider, testProvider } from '#test/support/oidc-provider.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

// By require: its types bring those of browsers with them.
const smartApi = createRequire(import.meta.url)('fhirclient') as FhirBody;

/** What a scenario needs of a client library. */
interface Library {
	create(resource: FhirBody): Promise<FhirBody>;
	read(type: string, id: string): Promise<FhirBody>;
	search(query: string): Promise<FhirBody>;
	next(bundle: FhirBody): Promise<FhirBody | undefined>;
	update(resource: FhirBody, version: string): Promise<FhirBody>;
	/** The HTTP status of what a call failed with. */
	statusOf(error: FhirBody): number | undefined;
}

let service: TestService;
let provider: TestProvider;
let key: string;
let base: string;

before(async () => {
	service = await testService();
	provider = await testProvider(['system/*.rs']);
	key = (await service.addSite('west')).key;
	const issuer = { site: 'west', owner: 'owner@example.org', issuer: provider.issuer, audience: jwtAudience, clients: [clientId] };
	await addIssuer(service.administration, issuer);
	base = `http://127.0.0.1:${service.port('fhir')}/fhir`;
});

after(async () => {
	await provider[Symbol.asyncDispose]();
	await service[Symbol.asyncDispose]();
});

function fhirKit(): Library {
	const client = new FhirKitClient({ baseUrl: base, customHeaders: { 'X-API-Key': key } });
	return {
		create: (resource) => client.create({ resourceType: resource.resourceType, body: resource }),
		read: (resourceType, id) => client.read({ resourceType, id }),
		search: (query) => client.request(query),
		next: (bundle) => (bundle.link.some((link: FhirBody) => link.relation === 'next') ? (client.nextPage({ bundle }) ?? none) : none),
		update: (resource, version) =>
			client.update({
				resourceType: resource.resourceType,
				id: resource.id,
				body: resource,
				options: { headers: { 'If-Match': `W/"${version}"` } },
			}),
		statusOf: (error) => error.response?.status,
	};
}

function smart(): Library {
	// A launch is what the request and the storage are for; a client of a plain server needs neither.
	const client = smartApi({ headers: {}, url: '/' }, {}, {}).client(base);
	const headers = { 'X-API-Key': key, Accept: 'application/fhir+json' };
	const sending = { ...headers, 'Content-Type': 'application/fhir+json' };
	return {
		create: (resource) => client.create(resource, { headers: sending }),
		read: (type, id) => client.request({ url: `${type}/${id}`, headers }),
		search: (query) => client.request({ url: query, headers }),
		next: (bundle) => {
			const url = bundle.link.find((link: FhirBody) => link.relation === 'next')?.url;
			return url === undefined ? Promise.resolve(undefined) : client.request({ url, headers });
		},
		update: (resource, version) => client.update(resource, { headers: { ...sending, 'If-Match': `W/"${version}"` } }),
		statusOf: (error) => error.statusCode ?? error.status,
	};
}

function medplum(): Library {
	let status: number | undefined;
	const client = new MedplumClient({
		baseUrl: base,
		fhirUrlPath: '',
		cacheTime: 0,
		fetch: async (url: string, options: FhirBody) => {
			const answer = await fetch(url, { ...options, headers: { ...options?.headers, 'X-API-Key': key } });
			status = answer.status;
			return answer;
		},
	});
	return {
		create: (resource) => client.createResource(resource),
		read: (type, id) => client.readResource(type as 'Patient', id),
		search: (query) => client.get(client.fhirUrl(query)),
		next: (bundle) => {
			const url = bundle.link.find((link: FhirBody) => link.relation === 'next')?.url;
			return url === undefined ? Promise.resolve(undefined) : client.get(url);
		},
		update: (resource, version) => client.updateResource(resource, { headers: { 'If-Match': `W/"${version}"` } }),
		statusOf: () => status,
	};
}

const none: Promise<undefined> = Promise.resolve(undefined);

const libraries: Record<string, () => Library> = { 'fhir-kit-client': fhirKit, fhirclient: smart, '@medplum/core': medplum };

describe('a client library creates, reads, searches, pages, updates and meets a conflict', () => {
	for (const [name, open] of Object.entries(libraries)) {
		test(name, async () => {
			const library = open();
			const family = name.replaceAll(/\W/g, '');
			const created: FhirBody[] = [];
			for (let index = 0; index < 5; index++) {
				created.push(await library.create({ resourceType: 'Patient', name: [{ family, given: [`G${index}`] }], gender: 'female' }));
			}
			const [first] = created;
			assert.match(first.id, /^[0-9a-f-]{36}$/);
			assert.deepEqual(await library.read('Patient', first.id), first);
			let page: FhirBody | undefined = await library.search(`Patient?name=${family}&gender=female&_count=2`);
			const found: string[] = [];
			let pages = 0;
			for (; page !== undefined; page = await library.next(page)) {
				found.push(...page.entry.map((entry: FhirBody) => entry.resource.id));
				pages++;
			}
			assert.equal(pages, 3);
			assert.deepEqual(
				found,
				created.map(({ id }) => id),
			);
			const updated = await library.update({ ...first, birthDate: '1970-05-17' }, '1');
			assert.equal(updated.meta.versionId, '2');
			assert.equal((await library.read('Patient', first.id)).birthDate, '1970-05-17');
			const conflict = await library.update({ ...first, birthDate: '1970-05-18' }, '1').then(
				() => assert.fail('a stale version was taken'),
				(error: FhirBody) => error,
			);
			assert.equal(library.statusOf(conflict), 412, String(conflict));
			const missing = await library.read('Patient', 'none').then(
				() => assert.fail('there is no such patient'),
				(error: FhirBody) => error,
			);
			assert.equal(library.statusOf(missing), 404);
			const observation = await library.create({
				resourceType: 'Observation',
				status: 'final',
				code: { text: 'Hb' },
				subject: { reference: `Patient/${first.id}` },
			});
			assert.equal((await library.search(`Observation?patient=Patient/${first.id}`)).entry[0].resource.id, observation.id);
		});
	}
});

/** A patient with two observations, made by the library that a test is about. */
async function patientWithResults(create: (resource: FhirBody) => Promise<FhirBody>): Promise<FhirBody> {
	const patient = await create({ resourceType: 'Patient', name: [{ family: 'Results' }], gender: 'female' });
	const subject = { reference: `Patient/${patient.id}` };
	for (const text of ['Hb', 'Na']) await create({ resourceType: 'Observation', status: 'final', code: { text }, subject });
	return patient;
}

describe('fhir-kit-client', () => {
	test('reads capabilities, versions, histories and compartments, patches, sends Bundles and calls operations', async () => {
		const client = new FhirKitClient({ baseUrl: base, customHeaders: { 'X-API-Key': key } });
		const create = (body: FhirBody): Promise<FhirBody> => client.create({ resourceType: body.resourceType, body });
		const { id } = await patientWithResults(create);
		const capability: FhirBody = await client.capabilityStatement();
		assert.equal(capability.fhirVersion, '4.0.1');
		assert.match(String((await client.smartAuthMetadata()).tokenUrl), /^http/);
		const patched: FhirBody = await client.patch({
			resourceType: 'Patient',
			id,
			jsonPatch: [{ op: 'replace', path: '/gender', value: 'other' }],
		});
		assert.deepEqual([patched.gender, patched.meta.versionId], ['other', '2']);
		const first: FhirBody = await client.vread({ resourceType: 'Patient', id, version: '1' });
		assert.equal(first.gender, 'female');
		const history: FhirBody = await client.history({ resourceType: 'Patient', id });
		assert.deepEqual([history.type, history.entry.length], ['history', 2]);
		const compartment = { resourceType: 'Patient', id };
		const within: FhirBody = await client.search({ resourceType: 'Observation', compartment, searchParams: { _count: 1 } });
		assert.equal(within.entry.length, 1);
		const next: FhirBody = (await client.nextPage({ bundle: within as never })) ?? {};
		assert.equal(next.entry.length, 1);
		assert.notEqual(next.entry[0].resource.id, within.entry[0].resource.id);
		const posted: FhirBody = await client.search({
			resourceType: 'Observation',
			searchParams: { patient: id, _include: 'Observation:patient' },
			options: { postSearch: true } as never,
		});
		assert.equal(posted.entry.length, 3);
		const all: FhirBody = await client.operation({ name: '$everything', resourceType: 'Patient', id, method: 'GET' });
		assert.equal(all.entry.length, 3);
		const subject: FhirBody = await client.resolve({ reference: `Patient/${id}` });
		assert.equal(subject.id, id);
		const body = { resourceType: 'Bundle', type: 'batch', entry: [{ request: { method: 'GET', url: `Patient/${id}` } }] };
		const answers: FhirBody = await client.batch({ body });
		assert.equal(answers.entry[0].resource.id, id);
		const transaction: FhirBody = await client.transaction({
			body: {
				resourceType: 'Bundle',
				type: 'transaction',
				entry: [{ resource: { ...patched, active: true }, request: { method: 'PUT', url: `Patient/${id}` } }],
			},
		});
		assert.match(transaction.entry[0].response.status, /^200/);
		const conditional: FhirBody = await client.update({
			resourceType: 'Patient',
			searchParams: { _id: id },
			body: { ...patched, active: false } as never,
		});
		assert.deepEqual([conditional.id, conditional.active], [id, false]);
	});
});

describe('fhirclient', () => {
	test('follows pages and references, in one list of resources, with a token of backend services', async () => {
		const keyed = smart();
		const { id } = await patientWithResults((resource) => keyed.create(resource));
		const token = await provider.token('system/*.rs');
		const client = smartApi({ headers: {}, url: '/' }, {}, {}).client({ serverUrl: base, tokenResponse: { access_token: token } });
		const options = { pageLimit: 0, flat: true, resolveReferences: ['subject'] };
		const found: FhirBody[] = await client.request(`Observation?patient=${id}&_count=1&_sort=-_lastUpdated`, options);
		assert.deepEqual(
			found.map(({ code, subject }) => [code.text, subject.id]),
			[
				['Na', id],
				['Hb', id],
			],
		);
		const refused = await client.create({ resourceType: 'Patient' }).then(
			() => assert.fail('the token may not write'),
			(error: FhirBody) => error,
		);
		assert.equal(refused.statusCode ?? refused.status, 403);
	});
});

/**
 * The requests that smart-on-fhir's bulk-data-client makes, in their order and with their headers: the client is no package of npm. `post` and
 * `patient` make it send Parameters instead of a query.
 */
async function bulkClient(
	path: string,
	asked: Record<string, string>,
	{ lenient = false, patients = [] as string[] } = {},
): Promise<{ manifest: FhirBody; files: Map<string, FhirBody[]> }> {
	assert.equal((await fetch(`${base}/metadata`, { headers: { accept: 'application/fhir+json', 'X-API-Key': key } })).status, 200);
	const authorization = `Bearer ${await provider.token('system/*.rs')}`;
	const prefer = `respond-async${lenient ? ', handling=lenient' : ''}`;
	const headers = { accept: 'application/fhir+json', prefer, authorization };
	const references = patients.map((id) => ({ name: 'patient', valueReference: { reference: `Patient/${id}` } }));
	const strings = Object.entries(asked).map(([name, value]) => ({ name, [name === '_since' ? 'valueInstant' : 'valueString']: value }));
	const started =
		patients.length === 0
			? await fetch(`${base}/${path}?${new URLSearchParams(asked)}`, { headers })
			: await fetch(`${base}/${path}`, {
					method: 'POST',
					headers: { ...headers, 'content-type': 'application/json' },
					body: JSON.stringify({ resourceType: 'Parameters', parameter: [...strings, ...references] }),
				});
	assert.equal(started.status, 202, await started.text());
	const status = started.headers.get('content-location') ?? '';
	let answer = await fetch(status, { headers: { accept: 'application/json', authorization } });
	for (; answer.status === 202; answer = await fetch(status, { headers: { accept: 'application/json', authorization } })) {
		await answer.arrayBuffer();
		await new Promise((resolve) => setTimeout(resolve, 25));
		assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
	}
	const manifest = (await answer.json()) as FhirBody;
	assert.ok(!('resourceType' in manifest) && Array.isArray(manifest.output));
	const files = new Map<string, FhirBody[]>();
	for (const { type, url } of [...manifest.output, ...(manifest.deleted ?? []), ...(manifest.error ?? [])]) {
		const file = await fetch(url, { headers: { accept: 'application/fhir+ndjson', 'accept-encoding': 'gzip', authorization } });
		assert.equal(file.headers.get('content-type'), 'application/fhir+ndjson');
		const lines = (await file.text()).trimEnd().split('\n');
		files.set(
			type,
			lines.map((line) => JSON.parse(line)),
		);
	}
	const removed = await fetch(status, { method: 'DELETE', headers: { authorization } });
	assert.equal(removed.status, 202);
	assert.equal((await fetch(status, { headers: { authorization } })).status, 404);
	return { manifest, files };
}

describe('a bulk client with a token of backend services', () => {
	test('exports a system, the patients, a Group and some patients', async () => {
		const { create } = smart();
		const [one, two] = [await patientWithResults(create), await patientWithResults(create)];
		const member = [{ entity: { reference: `Patient/${one.id}` } }];
		const group = await create({ resourceType: 'Group', type: 'person', actual: true, member });
		const types = { _type: 'Patient,Observation', _outputFormat: 'application/fhir+ndjson' };
		const system = await bulkClient('$export', types);
		assert.ok((system.files.get('Patient')?.length ?? 0) >= 2);
		assert.match(system.manifest.request, /\/fhir\/\$export\?_type=/);
		const ofGroup = await bulkClient(`Group/${group.id}/$export`, types);
		assert.deepEqual([ofGroup.files.get('Patient')?.map(({ id }) => id), ofGroup.files.get('Observation')?.length], [[one.id], 2]);
		const some = await bulkClient('Patient/$export', { ...types, _since: '2020-01-01T00:00:00Z' }, { patients: [two.id] });
		assert.deepEqual([some.files.get('Patient')?.map(({ id }) => id), some.files.get('Observation')?.length], [[two.id], 2]);
		const filtered = { ...types, _typeFilter: `Observation?code:text=Hb&patient=${two.id},Patient?_id=${two.id}` };
		const selected = await bulkClient('Patient/$export', filtered, { lenient: true });
		assert.deepEqual([selected.files.get('Patient')?.length, selected.manifest.error], [1, []]);
	});
});
