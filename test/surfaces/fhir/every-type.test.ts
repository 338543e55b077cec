import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { definitionOf, resources } from '#fhir/resources/index.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { exportResources } from '#storage/statements/export-resources.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { defaultLimits } from '../../../src/limits.ts';
import { searches } from './every-type-searches.ts';

let service: TestService;
let west: FhirCall;
let east: FhirCall;

before(async () => {
	service = await testService();
	west = fhirClient(service, (await service.addSite('west', { sending_application: 'ADT', sending_facility: 'WEST' })).key);
	// Only what clients write is looked for here, without the service's own trail.
	await setSite(service.administration, { slug: 'west', audit_events: false });
	east = fhirClient(service, (await service.addSite('east')).key);
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

const shared = Object.values(resources).filter(({ table }) => table.isShared);

async function create(body: object, site = west): Promise<FhirBody> {
	const reply = await site('POST', `/${(body as { resourceType: string }).resourceType}`, body);
	assert.equal(reply.status, 201, reply.text);
	return reply.body;
}

/** Ids of the matches, sorted. */
async function found(search: string, site = west): Promise<string[]> {
	const reply = await site('GET', search);
	assert.equal(reply.status, 200, `${search}: ${reply.text}`);
	const entries: FhirBody[] = reply.body.entry ?? [];
	return entries
		.filter((entry) => entry.search.mode === 'match')
		.map(({ resource }) => resource.id)
		.sort();
}

async function included(search: string): Promise<string[]> {
	const { body } = await west('GET', search);
	return (body.entry ?? [])
		.filter((entry: FhirBody) => entry.search.mode === 'include')
		.map(({ resource }: FhirBody) => `${resource.resourceType}/${resource.id}`)
		.sort();
}

describe('every type of R4', () => {
	test('is created, read, updated, searched and kept with its versions', async () => {
		assert.ok(shared.length > 120, String(shared.length));
		await Promise.all(
			shared.map(async ({ type, example }) => {
				const created = await create({ ...example, resourceType: type });
				const { resourceType: _type, ...given } = example;
				const { resourceType, id, meta: _meta, ...kept } = created;
				assert.equal(resourceType, type);
				assert.deepEqual(kept, given, type);
				// Of a Binary the bytes are the answer for who does not ask for FHIR.
				const asFhir = { Accept: 'application/fhir+json' };
				assert.deepEqual((await west('GET', `/${type}/${id}`, undefined, asFhir)).body, created);
				assert.equal((await east('GET', `/${type}/${id}`)).status, 404);
				assert.deepEqual(await found(`/${type}?_id=${id}`), [id]);
				assert.deepEqual(await found(`/${type}?_id=${id}`, east), []);
				const updated = await west('PUT', `/${type}/${id}`, { ...created, language: 'de' });
				assert.equal(updated.status, 200, `${type}: ${updated.text}`);
				const history = await west('GET', `/${type}/${id}/_history`);
				assert.deepEqual(
					history.body.entry.map(({ resource }: FhirBody) => resource.meta.versionId),
					['2', '1'],
					type,
				);
			}),
		);
	});

	test('has a search for every parameter that it declares', async () => {
		const values = {
			token: 'urn:nothing|x',
			reference: 'nobody',
			string: 'nothing',
			date: '1901-01-01',
			quantity: '5.4||mg',
			number: '7',
			uri: 'urn:nothing',
			special: 'x',
		};
		for (const { type, search, table } of Object.values(resources)) {
			if (table.renderedFrom !== undefined) continue;
			const queries = Object.entries(search).flatMap(([name, { type: kind }]) =>
				kind === 'composite' ? [] : [`${name}=${encodeURIComponent(values[kind])}`, `${name}:missing=true`, `${name}:missing=false`],
			);
			if (queries.length === 0) continue;
			const entry = queries.map((query) => ({ request: { method: 'GET', url: `${type}?${query}` } }));
			const reply = await west('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
			assert.equal(reply.status, 200, reply.text);
			for (const [index, { response }] of (reply.body.entry as FhirBody[]).entries()) {
				assert.equal(response.status.slice(0, 3), '200', `${type}?${queries[index]}: ${JSON.stringify(response)}`);
			}
		}
	});

	test('keeps ids apart by type', async () => {
		const of = (type: string, more: object) => west('PUT', `/${type}/same`, { resourceType: type, id: 'same', ...more });
		assert.equal((await of('Organization', { name: 'One' })).status, 201);
		assert.equal((await of('Location', { name: 'Two' })).status, 201);
		assert.equal((await of('Location', { name: 'Three' })).status, 200);
		assert.equal((await west('GET', '/Organization/same')).body.name, 'One');
		assert.equal((await west('GET', '/Location/same')).body.name, 'Three');
		assert.equal((await west('GET', '/Location/same/_history/1')).body.name, 'Two');
	});
});

describe('search of types without a table of their own', () => {
	const ids: Record<string, string> = {};

	before(async () => {
		const put = async (name: string, body: object) => {
			ids[name] = (await create(body)).id;
			return ids[name];
		};
		const ada = await put('ada', { resourceType: 'Patient', name: [{ family: 'Lovelace' }], gender: 'female' });
		const clinic = await put('clinic', {
			resourceType: 'Organization',
			name: 'Klinik am Münsterplatz',
			identifier: [{ system: 'urn:org', value: 'o-1', type: { coding: [{ system: 'urn:types', code: 'XX' }] } }],
			address: [{ city: 'Zürich' }],
			active: true,
		});
		await put('branch', { resourceType: 'Organization', name: 'Außenstelle', partOf: { reference: `Organization/${clinic}` } });
		const doctor = await put('doctor', {
			resourceType: 'Practitioner',
			name: [{ family: 'Grün', given: ['Vera'] }],
			telecom: [
				{ system: 'phone', value: '0123' },
				{ system: 'email', value: 'vera@example.org' },
			],
		});
		await put('role', {
			resourceType: 'PractitionerRole',
			practitioner: { reference: `Practitioner/${doctor}` },
			organization: { reference: `Organization/${clinic}` },
			specialty: [{ coding: [{ system: 'urn:specialty', code: 'radiology', display: 'Radiology' }] }],
			period: { start: '2020-01-01', end: '2021-06-30' },
		});
		await put('order', {
			resourceType: 'ServiceRequest',
			status: 'active',
			intent: 'order',
			subject: { reference: `Patient/${ada}` },
			requester: { reference: `Practitioner/${doctor}` },
			performer: [{ identifier: { system: 'urn:team', value: 't1' } }],
			instantiatesCanonical: ['http://example.org/plan|2'],
			instantiatesUri: ['http://example.org/guides/ct'],
			code: { text: 'CT thorax' },
			authoredOn: '2026-03-04T10:00:00Z',
		});
		await put('risk', {
			resourceType: 'RiskAssessment',
			status: 'final',
			subject: { reference: `Patient/${ada}` },
			prediction: [{ probabilityDecimal: 0.25 }],
		});
		await put('charge', {
			resourceType: 'ChargeItem',
			status: 'billable',
			code: { text: 'x' },
			subject: { reference: `Patient/${ada}` },
			quantity: { value: 3, unit: 'piece' },
		});
		await put('goal', {
			resourceType: 'Goal',
			lifecycleStatus: 'active',
			description: { text: 'walk' },
			subject: { reference: `Patient/${ada}` },
			target: [
				{ measure: { text: 'a' }, dueDate: '2026-01-10' },
				{ measure: { text: 'b' }, dueDate: '2026-09-10' },
			],
		});
	});

	before(async () => {
		const put = async (name: string, body: object) => {
			ids[name] = (await create(body)).id;
		};
		const subject = { reference: `Patient/${ids['ada']}` };
		const loinc = (code: string) => ({ coding: [{ system: 'http://loinc.org', code }] });
		const mmHg = (value: number) => ({ value, system: 'http://unitsofmeasure.org', code: 'mm[Hg]' });
		await put('pressure', {
			resourceType: 'Observation',
			meta: {
				tag: [{ system: 'urn:tags', code: 'study-1', display: 'Study one' }],
				profile: ['http://example.org/bp'],
				source: 'urn:device:7',
			},
			status: 'final',
			code: loinc('85354-9'),
			subject,
			basedOn: [{ reference: `ServiceRequest/${ids['order']}` }],
			component: [
				{ code: loinc('8480-6'), valueQuantity: mmHg(140) },
				{ code: loinc('8462-4'), valueQuantity: mmHg(80) },
			],
		});
		await put('seen', {
			resourceType: 'Observation',
			meta: { security: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code: 'R' }] },
			status: 'final',
			code: loinc('8665-2'),
			subject,
			valueDateTime: '2026-02-03T10:00:00+02:00',
		});
		await put('cured', {
			resourceType: 'Condition',
			clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'resolved' }] },
			subject,
			abatementPeriod: { start: '2026-01-01', end: '2026-01' },
		});
		await put('dead', { resourceType: 'Patient', name: [{ family: 'Gone' }], deceasedDateTime: '2020-05' });
		await put('list', {
			resourceType: 'List',
			status: 'current',
			mode: 'working',
			entry: [{ item: { reference: `Observation/${ids['seen']}` } }],
		});
		await put('plan', {
			resourceType: 'PlanDefinition',
			status: 'draft',
			useContext: [
				{ code: { system: 'urn:u', code: 'age' }, valueCodeableConcept: { coding: [{ system: 'urn:v', code: 'child' }] } },
				{ code: { system: 'urn:u', code: 'venue' }, valueCodeableConcept: { coding: [{ system: 'urn:v', code: 'ward' }] } },
			],
		});
	});

	for (const [search, names] of searches) {
		test(search, async () => {
			const query = search.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');
			// Examples of other tests are left out.
			const known = new Set(Object.values(ids));
			const matches = (await found(query)).filter((id) => known.has(id));
			assert.deepEqual(matches, names.map((name) => ids[name]).sort());
		});
	}

	test('and an export with the same search as _typeFilter selects the same', async () => {
		const [site] = await service.rows<{ id: string }>("select id from site where slug = 'west'");
		const scope = { siteId: site?.id ?? '', sinceMs: undefined, patientsOnly: false, base: 'http://h/fhir' };
		let compared = 0;
		for (const [search] of searches) {
			const path = search.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');
			const [, type = '', query = ''] = /^\/(\w+)\?(.*)$/.exec(path) ?? [];
			const definition = definitionOf(type) ?? assert.fail(search);
			const { plan } = parseSearch(definition, query, { limits: defaultLimits, lenient: false, base: scope.base, scopes: undefined });
			const copy = exportResources(definition.table, { ...scope, clauses: plan.clauses });
			const rows = await service.rows<{ line: string }>(
				`select l.line from (${copy.slice('copy ('.length, copy.lastIndexOf(') to stdout'))}) l (line)`,
			);
			assert.deepEqual(rows.map(({ line }) => JSON.parse(line).id).sort(), await found(`${path}&_count=1000`), search);
			compared++;
		}
		assert.ok(compared > 50, String(compared));
	});

	test('includes what resources refer to, and what refers to them', async () => {
		const { clinic, doctor, role, order, ada, list, seen } = ids;
		assert.deepEqual(
			await included(`/PractitionerRole?_id=${role}&_include=PractitionerRole:practitioner&_include=PractitionerRole:organization`),
			[`Organization/${clinic}`, `Practitioner/${doctor}`],
		);
		assert.deepEqual(
			await included(`/Practitioner?_id=${doctor}&_revinclude=PractitionerRole:practitioner&_revinclude=ServiceRequest:requester`),
			[`PractitionerRole/${role}`, `ServiceRequest/${order}`],
		);
		assert.deepEqual(await included(`/List?_id=${list}&_include=List:item`), [`Observation/${seen}`]);
		assert.deepEqual(await included(`/Observation?_id=${seen}&_revinclude=List:item`), [`List/${list}`]);
		assert.ok((await included(`/Patient?_id=${ada}&_revinclude=ServiceRequest:patient`)).includes(`ServiceRequest/${order}`));
	});

	test('sorts by a date, pages, and counts', async () => {
		const system = 'urn:paging';
		const made: string[] = [];
		for (const [index, authoredOn] of ['2026-01-03', '2026-01-01', '2026-01-02'].entries()) {
			const { id } = await create({
				resourceType: 'Task',
				status: 'ready',
				intent: 'order',
				authoredOn,
				identifier: [{ system, value: String(index) }],
			});
			made.push(id);
		}
		const [first, second, third] = [made[1], made[2], made[0]];
		const page = await west('GET', `/Task?identifier=${system}|&_sort=authored-on&_count=2&_total=accurate`);
		assert.deepEqual(
			page.body.entry.map(({ resource }: FhirBody) => resource.id),
			[first, second],
		);
		assert.equal(page.body.total, 3);
		const next = new URL(page.body.link.find(({ relation }: FhirBody) => relation === 'next').url);
		const rest = await west('GET', `${next.pathname.replace('/fhir', '')}${next.search}`);
		assert.deepEqual(
			rest.body.entry.map(({ resource }: FhirBody) => resource.id),
			[third],
		);
	});
});

describe('merges, messages and types without a table of their own', () => {
	let mllp: MllpClient;

	before(async () => {
		mllp = await MllpClient.connect(service.port('mllp'));
	});

	after(() => mllp.socket.destroy());

	const head = (event: string, control: string) =>
		`MSH|^~\\&|ADT|WEST|||20260301100000+0000||ADT^${event}|${control}|P|2.5.1\rEVN|${event}|20260301100000+0000\r`;
	const send = async (message: string) => assert.match(await mllp.send(message), /MSA.AA/);
	const numbered = async (value: string) => {
		const [id] = await found(`/Patient?identifier=${value}`);
		assert.ok(id !== undefined);
		return id;
	};

	test('a visit that a client wrote is the one of a message with its number', async () => {
		await send(`${head('A01', 'v1')}PID|1||V900^^^MRN||Vogel^Ida||19700101|F\rPV1|1|I|WARD^1||||||||||||||||V-1^^^HOSP\r`);
		const patient = await numbered('V900');
		const { body } = await west('GET', `/Encounter?patient=${patient}`);
		const [{ resource: first }] = body.entry;
		const second = await create({
			resourceType: 'Encounter',
			status: 'in-progress',
			class: first.class,
			subject: { reference: `Patient/${patient}` },
			identifier: first.identifier.map((identifier: FhirBody) => ({ ...identifier, value: 'V-2' })),
		});
		await send(`${head('A08', 'v2')}PID|1||V900^^^MRN||Vogel^Ida||19700101|F\rPV1|1|I|WARD^7||||||||||||||||V-2^^^HOSP\r`);
		const { body: updated } = await west('GET', `/Encounter/${second.id}`);
		assert.equal(updated.meta.versionId, '2');
		assert.match(JSON.stringify(updated.location), /WARD/);
		assert.equal((await found(`/Encounter?patient=${patient}`)).length, 2);
		const put = await west('PUT', `/Encounter/${first.id}`, { ...first, priority: { text: 'urgent' } });
		assert.equal(put.status, 200, put.text);
		await send(`${head('A08', 'v3')}PID|1||V900^^^MRN||Vogel^Ida||19700101|F\rPV1|1|I|WARD^9||||||||||||||||V-1^^^HOSP\r`);
		const { body: third } = await west('GET', `/Encounter/${first.id}`);
		assert.deepEqual([third.meta.versionId, third.priority.text], ['3', 'urgent']);
	});

	test('what belongs to a merged patient goes to the survivor and back, and other references mean the survivor', async () => {
		await send(`${head('A08', 'm1')}PID|1||M1^^^MRN||Stein^Ole||19700101|M\r`);
		await send(`${head('A08', 'm2')}PID|1||M2^^^MRN||Stein^Ole||19700101|M\r`);
		const [prior, survivor] = [await numbered('M1'), await numbered('M2')];
		const flag = await create({
			resourceType: 'Flag',
			status: 'active',
			code: { text: 'fall risk' },
			subject: { reference: `Patient/${prior}` },
		});
		const group = await create({
			resourceType: 'Group',
			type: 'person',
			actual: true,
			member: [{ entity: { reference: `Patient/${prior}` } }],
		});
		const account = await create({
			resourceType: 'Account',
			status: 'active',
			subject: [{ reference: `Patient/${survivor}` }, { reference: `Patient/${prior}` }],
		});
		await send(`${head('A40', 'm3')}PID|1||M2^^^MRN||Stein^Ole\rMRG|M1^^^MRN\r`);
		const { body } = await west('GET', `/Flag/${flag.id}`);
		assert.deepEqual([body.subject.reference, body.meta.versionId], [`Patient/${survivor}`, '2']);
		for (const patient of [prior, survivor]) {
			assert.deepEqual(await found(`/Flag?patient=${patient}`), [flag.id]);
			assert.deepEqual(await found(`/Group?member=Patient/${patient}`), [group.id]);
			assert.deepEqual(await found(`/Account?patient=${patient}`), [account.id]);
			assert.deepEqual(await found(`/Group?member:Patient.identifier=M2`), [group.id]);
		}
		const everything = await west('GET', `/Patient/${survivor}/$everything`);
		const types = everything.body.entry.map(({ resource }: FhirBody) => resource.resourceType);
		assert.deepEqual(types.sort(), ['Account', 'Flag', 'Group', 'Patient']);
	});

	test('are exported with their patients, and imported', async () => {
		assert.equal((await west('GET', '/$export', undefined, { Accept: 'application/fhir+json', Prefer: 'respond-async' })).status, 202);
	});
});
