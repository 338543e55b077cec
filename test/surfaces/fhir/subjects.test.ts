import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { indexedTypes } from '#fhir/search/indexed-types.ts';
import { SearchIndex } from '#storage/search-index.ts';
import { doorTo } from '#test/support/door.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

const code = { coding: [{ system: 'http://loinc.org', code: '718-7' }] };
const elsewhere = 'http://elsewhere.example/fhir/Patient/7';
const numbered = (value: string) => [{ system: 'urn:m', value }];
const observation = (id: string, subject?: object) => ({
	...{ resourceType: 'Observation', id, status: 'final', code },
	...(subject === undefined ? {} : { subject }),
});

const content: readonly FhirBody[] = [
	{ resourceType: 'Patient', id: 'p1', identifier: numbered('1'), name: [{ family: 'Rivers' }] },
	{ resourceType: 'Patient', id: 'p2', identifier: numbered('2'), name: [{ family: 'Lakes' }] },
	{ resourceType: 'Group', id: 'g1', type: 'person', actual: true, identifier: numbered('g') },
	// It has the id of a patient.
	{ resourceType: 'Group', id: 'p1', type: 'person', actual: true },
	{ resourceType: 'Device', id: 'd1', identifier: numbered('d') },
	{ resourceType: 'Location', id: 'l1', name: 'Rivers ward' },
	observation('of-p1', { reference: 'Patient/p1' }),
	observation('of-p2', { reference: 'Patient/p2' }),
	observation('of-g1', { reference: 'Group/g1' }),
	observation('of-group-p1', { reference: 'Group/p1' }),
	observation('of-d1', { reference: 'Device/d1' }),
	observation('of-l1', { reference: 'Location/l1' }),
	observation('elsewhere', { reference: elsewhere }),
	observation('logical', { identifier: { system: 'urn:m', value: '9' } }),
	observation('both', { reference: 'Patient/p2', identifier: { system: 'urn:m', value: '9' } }),
	observation('nobody'),
	{ resourceType: 'DiagnosticReport', id: 'of-l1', status: 'final', code, subject: { reference: 'Location/l1' } },
	{ resourceType: 'DiagnosticReport', id: 'of-p1', status: 'final', code, subject: { reference: 'Patient/p1' } },
	{ resourceType: 'Encounter', id: 'of-g1', status: 'planned', class: { code: 'AMB' }, subject: { reference: 'Group/g1' } },
	{ resourceType: 'Condition', id: 'of-g1', subject: { reference: 'Group/g1' } },
	{ resourceType: 'Procedure', id: 'of-g1', status: 'completed', subject: { reference: 'Group/g1' } },
	...['Device/d1', 'Practitioner/x'].map((reference, index) => ({
		...{ resourceType: 'DocumentReference', id: `document-${index}`, status: 'current' },
		...{ subject: { reference }, content: [{ attachment: { url: 'http://example.org/d' } }] },
	})),
];

/** Each search with what it finds, the included after the matches. */
const searches: readonly [string, string][] = [
	['Observation?subject=Group/g1', 'Observation/of-g1'],
	['Observation?subject=Device/d1', 'Observation/of-d1'],
	['Observation?subject=Location/l1', 'Observation/of-l1'],
	['DiagnosticReport?subject=Location/l1', 'DiagnosticReport/of-l1'],
	['Encounter?subject=Group/g1', 'Encounter/of-g1'],
	['Condition?subject=Group/g1', 'Condition/of-g1'],
	['Procedure?subject=Group/g1', 'Procedure/of-g1'],
	['DocumentReference?subject=Device/d1', 'DocumentReference/document-0'],
	['DocumentReference?subject=Practitioner/x', 'DocumentReference/document-1'],
	['Observation?subject:Group=g1', 'Observation/of-g1'],
	['Observation?subject:Patient=p1', 'Observation/of-p1'],
	['Observation?subject:Group=p1', 'Observation/of-group-p1'],
	['Observation?subject=p1', 'Observation/of-group-p1 Observation/of-p1'],
	['Observation?subject=p1&_sort=-_lastUpdated', 'Observation/of-group-p1 Observation/of-p1'],
	['Observation?subject=p1&status=final&code=718-7', 'Observation/of-group-p1 Observation/of-p1'],
	['Observation?subject=p1&category:missing=true&_sort=date', 'Observation/of-group-p1 Observation/of-p1'],
	['Observation?subject=Patient/p1', 'Observation/of-p1'],
	['Observation?patient=p1', 'Observation/of-p1'],
	['Observation?subject=Patient/p1,Group/g1,Device/d1', 'Observation/of-d1 Observation/of-g1 Observation/of-p1'],
	['Observation?subject=p1,g1&subject=g1,d1', 'Observation/of-g1'],
	['Observation?subject=BASE/Group/g1', 'Observation/of-g1'],
	[`Observation?subject=${elsewhere}`, 'Observation/elsewhere'],
	['Observation?subject=Group/none', ''],
	['Observation?subject=Practitioner/g1', ''],
	['Observation?subject:missing=true', 'Observation/nobody'],
	['Observation?subject:missing=false&subject=Group/g1', 'Observation/of-g1'],
	['Observation?subject:identifier=urn:m|9', 'Observation/both Observation/logical'],
	['Observation?subject:identifier=9', 'Observation/both Observation/logical'],
	['Observation?subject:identifier=urn:m|', 'Observation/both Observation/logical'],
	['Observation?subject:Device.identifier=urn:m|d', 'Observation/of-d1'],
	['Observation?subject:Group.identifier=g', 'Observation/of-g1'],
	['Observation?subject:Patient.identifier=urn:m|1', 'Observation/of-p1'],
	['Observation?subject.identifier=urn:m|1,g', 'Observation/of-g1 Observation/of-p1'],
	['Observation?subject.identifier=urn:m|1', 'Observation/of-p1'],
	['Observation?subject.name=rivers', 'Observation/of-l1 Observation/of-p1'],
	['Observation?subject=Group/g1&_include=Observation:subject', 'Observation/of-g1 Group/g1'],
	['Observation?subject=d1&_include=Observation:subject:Device', 'Observation/of-d1 Device/d1'],
	['Observation?subject=d1&_include=Observation:subject:Group', 'Observation/of-d1'],
	['Observation?subject=Patient/p1&_include=Observation:subject', 'Observation/of-p1 Patient/p1'],
	['Group?_id=g1&_revinclude=Observation:subject', 'Group/g1 Observation/of-g1'],
	['Device?_id=d1&_revinclude=DocumentReference:subject', 'Device/d1 DocumentReference/document-0'],
	['Location?_id=l1&_revinclude:iterate=DiagnosticReport:subject', 'Location/l1 DiagnosticReport/of-l1'],
	['Group?_has:Observation:subject:code=718-7', 'Group/g1 Group/p1'],
	['Device?_has:Observation:subject:code=718-7', 'Device/d1'],
	['Device?_has:Observation:subject:code=none', ''],
	['Patient?_has:Observation:subject:subject:identifier=9', 'Patient/p2'],
	['Observation/$lastn?subject=Group/g1,Group/p1&code=718-7', 'Observation/of-g1 Observation/of-group-p1'],
	['Observation/$lastn?subject:Device=d1&code=718-7', 'Observation/of-d1'],
];

describe('subjects that are no patients', () => {
	let service: TestService;
	let call: FhirCall;

	before(async () => {
		service = await testService();
		call = fhirClient(service, (await service.addSite('west')).key);
		await setSite(service.administration, { slug: 'west', report_writes: true });
		for (const resource of content) {
			const { status, text } = await call('PUT', `/${resource.resourceType}/${resource.id}`, resource);
			assert.equal(status, 201, text);
		}
	});

	after(() => service[Symbol.asyncDispose]());

	async function foundBy(search: string): Promise<string> {
		const base = `http://127.0.0.1:${service.port('fhir')}/fhir`;
		const path = search.replace('BASE', base);
		const { status, body } = await call('GET', `/${path}${path.includes('$') ? '' : '&_total=accurate'}`);
		assert.equal(status, 200, `${search}: ${JSON.stringify(body)}`);
		const entries = (body.entry ?? []) as { resource: FhirBody; search: { mode: string } }[];
		const named = (mode: string) =>
			entries
				.filter((entry) => entry.search.mode === mode)
				.map(({ resource }) => `${resource.resourceType}/${resource.id}`)
				.sort();
		assert.equal(body.total, named('match').length, `the total of ${search}`);
		return [...named('match'), ...named('include')].join(' ');
	}

	async function assertFound(): Promise<void> {
		for (const [search, found] of searches) assert.equal(await foundBy(search), found, search);
	}

	/** Takes everything into the index of elements, as the service does some seconds later. */
	async function takeIn(): Promise<void> {
		const door = doorTo(service.databaseUrl);
		const index = new SearchIndex({ connection: door.indexing, types: indexedTypes, apart: '0 seconds', pace: 0 });
		for (let round = 0; round < 20 && !(await index.round()); round++);
		await door.close();
	}

	test('are found at once, by the index of elements, and where that had nothing of them', async () => {
		await assertFound();
		await takeIn();
		await assertFound();
		// As a release left it that knew of patients alone.
		await service.rows(`update search_entry set terms = '{}' where resource_type = 'Observation'`);
		await service.rows(`update search_progress set definition = 'before' where resource_type = 'Observation'`);
		await takeIn();
		await assertFound();
	});

	test('have entries in the index of elements, and patients none', async () => {
		await takeIn();
		const { parameters } = indexedTypes.find(({ type }) => type === 'Observation') ?? {};
		assert.ok(parameters?.some(({ scope, value }) => scope === 'Observation.subject' && value.kind === 'other-reference'));
		const rows = await service.rows<{ given_id: string }>(`
			select o.given_id from observation o join search_entry e on e.site_id = o.site_id and e.id = o.id and e.resource_type = 'Observation'
			where e.terms @> array[tributary_term(E'Observation.subject\\x01p')] order by 1`);
		assert.deepEqual(
			rows.map(({ given_id: id }) => id),
			['both', 'elsewhere', 'logical', 'of-d1', 'of-g1', 'of-group-p1', 'of-l1'],
		);
	});

	test('come in pages, after and between those of patients, each once', async () => {
		const ids: string[] = [];
		let path = '/Observation?subject=p1,g1,p2,d1&_count=2';
		for (let page = 0; path !== '' && page < 9; page++) {
			const { body } = await call('GET', path);
			ids.push(...(body.entry ?? []).map(({ resource }: { resource: FhirBody }) => resource.id));
			const next = body.link.find(({ relation }: { relation: string }) => relation === 'next');
			path = next === undefined ? '' : String(next.url).replace(/^.*\/fhir/, '');
		}
		assert.deepEqual([...ids].sort(), ['both', 'of-d1', 'of-g1', 'of-group-p1', 'of-p1', 'of-p2']);
	});

	test('are what conditional writes ask for', async () => {
		const create = (id: string, subject: string, condition: string) =>
			call('POST', '/Observation', observation(id, { reference: subject }), { 'If-None-Exist': condition });
		const again = await create('x', 'Group/g1', 'subject=Group/g1&code=718-7');
		assert.equal(again.status, 200);
		assert.equal(again.body.id, 'of-g1');
		const bare = await create('x', 'Device/d1', 'subject=d1&code=718-7');
		assert.equal(bare.body.id, 'of-d1');
		assert.equal((await create('x', 'Group/g1', 'subject=p1&code=718-7')).status, 412, 'a patient and a group have this id');
		const first = await create('x', 'Group/new', 'subject=Group/new');
		assert.equal(first.status, 201);
		assert.equal((await create('x', 'Group/new', 'subject=Group/new')).body.id, first.body.id);
	});

	test('have no other modifiers than other references have', async () => {
		for (const search of ['subject:not=Group/g1', 'subject:Claim=x', 'subject:Claim.status=active', 'subject:text=x']) {
			assert.equal((await call('GET', `/Observation?${search}`)).status, 400, search);
		}
	});

	test('change nothing for patients who were merged', async () => {
		const client = await MllpClient.connect(service.port('mllp'));
		const send = async (...segments: string[]) => {
			const message = [`MSH|^~\\&|ADT|WEST|||20260105||${segments[0]}|${segments.length}|P|2.5.1`, 'EVN||20260105', ...segments.slice(1)];
			assert.equal(msa(await client.send(message.join('\r'))).code, 'AA');
		};
		await send('ADT^A40^ADT_A39', 'PID|1||2^^^&urn:m&URI||Lakes', 'MRG|1^^^&urn:m&URI');
		client.close();
		const all = 'Observation/both Observation/of-p1 Observation/of-p2';
		for (const search of [
			'subject=Patient/p1',
			'subject=Patient/p2',
			'patient=p1',
			'subject=p2',
			'subject:Patient=p1',
			'subject:Patient.identifier=1',
		]) {
			assert.equal(await foundBy(`Observation?${search}`), all, search);
		}
		assert.equal(await foundBy('Observation?subject=p1'), `Observation/both Observation/of-group-p1 Observation/of-p1 Observation/of-p2`);
		assert.equal(await foundBy('Observation?subject.identifier=1'), all);
	});
});
