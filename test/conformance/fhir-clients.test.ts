import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import { MedplumClient } from '@medplum/core';
import { Client as FhirKitClient } from 'fhir-kit-client';
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
let key: string;
let base: string;

before(async () => {
	service = await testService();
	key = (await service.addSite('west')).key;
	base = `http://127.0.0.1:${service.port('fhir')}/fhir`;
});

after(async () => {
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
