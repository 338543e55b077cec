import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { addProfiles } from '#administration/profiles.ts';
import { setSite } from '#administration/sites.ts';
import { adt } from '#test/support/adt.ts';
import { BulkClient, type BulkReply } from '#test/support/bulk.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tributary-parts-'));
let service: TestService;
let bulk: BulkClient;
let other: BulkClient;
let fhir: FhirCall;

before(async () => {
	service = await testService({ DATA_DIR: dataDir, BULK_KEPT_MAX: '1000', EXPORT_PATIENTS_MAX: '5' });
	const { key } = await service.addSite('parts');
	bulk = new BulkClient(service, key);
	other = new BulkClient(service, (await service.addSite('others', { name: 'other', allowed_ips: ['10.0.0.1'] })).key);
	fhir = fhirClient(service, key);
	for (const [path, body] of resources) assert.equal((await fhir('PUT', path, body)).status, 201, path);
});

after(async () => {
	await service[Symbol.asyncDispose]();
	rmSync(dataDir, { recursive: true, force: true });
});

const person = (id: string, further: object = {}): [string, object] => [`/Patient/${id}`, { resourceType: 'Patient', id, ...further }];
const seen = (id: string, patient: string, status: string, date: string): [string, object] => [
	`/Observation/${id}`,
	{
		resourceType: 'Observation',
		id,
		status,
		code: { coding: [{ system: 'http://loinc.org', code: id.slice(0, 1) }] },
		subject: { reference: `Patient/${patient}` },
		effectiveDateTime: date,
		valueQuantity: { value: 1.5, unit: 'g' },
	},
];
const member = (reference: string, further: object = {}) => ({ entity: { reference }, ...further });
const group = (id: string, members: readonly object[]): [string, object] => [
	`/Group/${id}`,
	{ resourceType: 'Group', id, type: 'person', actual: true, member: members },
];
const tooEarly = { start: '1990-01-01', end: '1990-12-31' };
const goesOn = { start: '1990-01-01' };

const resources: [string, object][] = [
	person('anna', { gender: 'female', birthDate: '1950-02-01' }),
	person('bert', { gender: 'male' }),
	person('carl', { gender: 'male' }),
	person('dora', { gender: 'female' }),
	seen('a1', 'anna', 'final', '2020-05-05'),
	seen('a2', 'anna', 'preliminary', '2024-05-05'),
	seen('b1', 'bert', 'final', '2024-05-05'),
	seen('c1', 'carl', 'final', '2024-05-05'),
	seen('d1', 'dora', 'amended', '2024-05-05'),
	['/Claim/k1', claim('anna', 'active')],
	['/Claim/k2', claim('bert', 'draft')],
	['/Organization/o1', { resourceType: 'Organization', id: 'o1', name: 'Ward' }],
	group('inner', [member('Patient/carl'), member('Group/outer')]),
	group('outer', [
		member('Patient/anna', { period: goesOn }),
		member('Patient/bert', { period: tooEarly }),
		member('Patient/dora', { inactive: true }),
		member('Group/inner'),
	]),
	group('empty', [member('Patient/dora', { inactive: true })]),
];

function claim(patient: string, status: string): object {
	return {
		resourceType: 'Claim',
		status,
		use: 'claim',
		type: { text: 'x' },
		created: '2024-01-01',
		patient: { reference: `Patient/${patient}` },
		provider: { display: 'x' },
		priority: { text: 'x' },
		insurance: [{ sequence: 1, focal: true, coverage: { display: 'x' } }],
	};
}

const asynchronous = { Prefer: 'respond-async' };
const lenient = { Prefer: 'respond-async, handling=lenient' };

function post(path: string, parameter: readonly object[], headers: Record<string, string> = asynchronous): Promise<BulkReply> {
	const body = JSON.stringify({ resourceType: 'Parameters', parameter });
	return bulk.call('POST', path, { ...headers, 'Content-Type': 'application/fhir+json' }, body);
}

async function filesOf(reply: BulkReply): Promise<Record<string, string[]>> {
	assert.equal(reply.status, 202, reply.text);
	const { output } = await bulk.manifest(reply.headers.get('content-location') ?? '');
	const files = (output as { type: string; url: string }[]).map(
		async ({ type, url }) => [type, (await bulk.lines(url)).map((line) => JSON.parse(line).id).sort()] as const,
	);
	return Object.fromEntries(await Promise.all(files));
}

const exported = async (path: string) => filesOf(await bulk.call('GET', path, asynchronous));

async function refused(reply: BulkReply, named: RegExp, status = 400): Promise<void> {
	assert.equal(reply.status, status, reply.text);
	assert.match(reply.text, named);
}

describe('an export of a Group', () => {
	test('has its members, those of Groups within, and the resources about them', async () => {
		const files = await exported('/Group/outer/$export');
		assert.deepEqual(files['Patient'], ['anna', 'carl']);
		assert.deepEqual(files['Observation'], ['a1', 'a2', 'c1']);
		assert.equal(files['Claim']?.length, 1);
		assert.equal(files['Organization'], undefined);
		assert.deepEqual(await exported('/Group/inner/$export?_type=Patient'), { Patient: ['anna', 'carl'] });
		assert.deepEqual(await exported('/Group/empty/$export?_type=Patient,Observation'), {});
	});

	test('is limited by all that limits an export, in the query and as Parameters', async () => {
		assert.deepEqual(await exported('/Group/outer/$export?_type=Observation&_since=2000-01-01T00:00:00Z'), {
			Observation: ['a1', 'a2', 'c1'],
		});
		const soon = new Date(Date.now() + 60_000).toISOString();
		assert.deepEqual(await exported(`/Group/outer/$export?_since=${soon}`), {});
		const parameters = [
			{ name: '_type', valueString: 'Observation' },
			{ name: '_typeFilter', valueString: 'Observation?status=final' },
			{ name: 'patient', valueReference: { reference: 'Patient/anna' } },
		];
		assert.deepEqual(await filesOf(await post('/Group/outer/$export', parameters)), { Observation: ['a1'] });
	});

	test('follows a member who was merged', async () => {
		const sender = await MllpClient.connect(service.port('mllp'));
		const named = async (number: string) => {
			assert.match(await sender.send(adt(number, number, 1, 'A04')), /MSA\|AA/);
			return (await fhir('GET', `/Patient?identifier=${number}`)).body.entry[0].resource.id as string;
		};
		const [prior, survivor] = [await named('P1'), await named('P2')];
		for (const [path, body] of [
			seen('m1', prior, 'entered-in-error', '2000-01-01'),
			group('merged', [member('Patient/bert'), member(`Patient/${prior}`)]),
		])
			assert.equal((await fhir('PUT', path, body)).status, 201, path);
		const head = 'MSH|^~\\&|ADT|HOSPITAL|TRIBUTARY|SITE|20260101120000+0000||ADT^A40|1|P|2.5.1';
		assert.match(await sender.send(`${head}\rPID|1||P2^^^MRN\rMRG|P1^^^MRN\r`), /MSA\|AA/);
		sender.close();
		const files = await exported('/Group/merged/$export?_type=Patient,Observation');
		assert.deepEqual(files, { Patient: [prior, survivor, 'bert'].sort(), Observation: ['b1', 'm1'] });
		const parameter = [{ name: 'patient', valueReference: { reference: `Patient/${survivor}` } }];
		assert.deepEqual((await filesOf(await post('/Group/merged/$export', parameter)))['Observation'], ['m1']);
	});

	test('is refused for a Group that the site does not have, and for a key that may not read it', async () => {
		await refused(await bulk.call('GET', '/Group/none/$export', asynchronous), /no Group/, 404);
		await refused(await other.call('GET', '/Group/outer/$export', asynchronous), /no Group/, 404);
		await refused(await bulk.call('GET', '/Group/outer/$export', {}), /respond-async/);
		assert.equal((await new BulkClient(service, 'none').call('GET', '/Group/outer/$export', asynchronous)).status, 401);
	});

	test('is declared', async () => {
		const { body } = await fhir('GET', '/metadata');
		const [rest] = body.rest;
		const of = (type: string) => rest.resource.find((resource: FhirBody) => resource.type === type).operation;
		const [, ...operations] = of('Group');
		assert.deepEqual(operations, [{ name: 'export', definition: 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition/group-export' }]);
		const openApi = JSON.parse((await bulk.call('GET', `http://127.0.0.1:${service.port('fhir')}/api/documentation/openapi.json`)).text);
		assert.ok(openApi.paths['/fhir/Group/{id}/$export'].post);
	});
});

describe('patient', () => {
	const named = (...ids: string[]) => ids.map((id) => ({ name: 'patient', valueReference: { reference: `Patient/${id}` } }));

	test('limits an export of patients to some of them', async () => {
		const files = await filesOf(await post('/Patient/$export', named('anna', 'bert', 'anna')));
		assert.deepEqual(files['Patient'], ['anna', 'bert']);
		assert.deepEqual(files['Observation'], ['a1', 'a2', 'b1']);
		assert.equal(files['Claim']?.length, 2);
		assert.equal(files['Organization'], undefined);
		const [event] = await service.rows<{ detail: FhirBody }>(
			"select detail from audit_event where action = 'bulk.export' order by recorded_at desc, id desc limit 1",
		);
		assert.match(event?.detail.request, /\/Patient\/\$export$/);
		assert.equal(event?.detail.patients, 2);
	});

	test('refuses patients of others, unknown ones and those that are no members, from lenient clients as well', async () => {
		for (const headers of [asynchronous, lenient]) {
			await refused(await post('/Patient/$export', named('anna', 'nobody'), headers), /patient names 1 patients that this site/);
			await refused(await post('/Group/outer/$export', named('anna', 'bert'), headers), /not members/);
			await refused(await post('/Patient/$export', [{ name: 'patient', valueString: 'Device/x' }], headers), /Patient\/<id>/);
			await refused(await post('/$export', named('anna'), headers), /Patient\/\$export/);
			await refused(await post('/Patient/$export', named('a', 'b', 'c', 'd', 'e', 'f'), headers), /at most 5/);
			await refused(await bulk.call('GET', '/Patient/$export?patient=Patient/anna', headers), /POST/);
		}
		const body = JSON.stringify({ resourceType: 'Parameters', parameter: named('anna') });
		const elsewhere = await other.call('POST', '/Patient/$export', { ...asynchronous, 'Content-Type': 'application/fhir+json' }, body);
		await refused(elsewhere, /this site does not have/);
	});
});

describe('_typeFilter', () => {
	const filter = (...filters: string[]) => filters.map((one) => `&_typeFilter=${encodeURIComponent(one)}`).join('');

	test('selects by searches of a type, of which one has to find a resource', async () => {
		const of = (...filters: string[]) => exported(`/$export?_type=Observation,Claim,Organization${filter(...filters)}`);
		const kept = { Organization: ['o1'] };
		const claims = (await of())['Claim'] ?? [];
		assert.deepEqual(await of('Observation?status=final&date=gt2021'), { ...kept, Claim: claims, Observation: ['b1', 'c1'] });
		assert.deepEqual((await of('Observation?status=amended', 'Observation?code=http://loinc.org|a&date=lt2021'))['Observation'], [
			'a1',
			'd1',
		]);
		// Commas within a search are alternatives of a value; those before a type separate searches.
		assert.deepEqual((await of('Observation?status=amended,preliminary,Claim?status=draft'))['Observation'], ['a2', 'd1']);
		assert.equal((await of('Observation?status=amended,preliminary,Claim?status=draft'))['Claim']?.length, 1);
		assert.deepEqual((await of('Claim?patient=Patient/nobody'))['Claim'], undefined);
		assert.deepEqual((await of('Observation?patient.gender=female&date=gt2019&_lastUpdated=gt2020'))['Observation'], ['a1', 'a2', 'd1']);
		assert.deepEqual((await of("Observation?code=\\'quoted$1"))['Observation'], undefined);
	});

	test('is taken with the levels of patients', async () => {
		assert.deepEqual(await exported(`/Patient/$export?_type=Patient${filter('Patient?gender=male')}`), { Patient: ['bert', 'carl'] });
		assert.deepEqual(await exported(`/Group/outer/$export?_type=Patient${filter('Patient?gender=male')}`), { Patient: ['carl'] });
	});

	test('that cannot be applied is refused, or told to a lenient client', async () => {
		const bad: [string, RegExp][] = [
			['Observation', /<type>\?<query>/],
			['Nothing?x=y', /<type>\?<query>/],
			['Observation?nothing=1', /nothing/],
			['Observation?date=soon', /date/],
			['Observation?_sort=date', /_sort/],
			['Observation?_include=Observation:patient', /_include/],
			['Patient?gender=male', /does not have the type Patient/],
		];
		for (const [one, named] of bad) await refused(await bulk.call('GET', `/$export?_type=Observation${filter(one)}`, asynchronous), named);
		const reply = await bulk.call(
			'GET',
			`/$export?_type=Observation${filter('Observation?_sort=date', 'Observation?status=amended')}`,
			lenient,
		);
		assert.deepEqual(await filesOf(reply), { Observation: ['d1'] });
		const [told] = (await bulk.manifest(reply.headers.get('content-location') ?? '')).error;
		assert.match((await bulk.lines(told.url)).join(), /_sort/);
	});
});

describe('_elements', () => {
	test('shows some elements of all types or of one, and marks the rest as left out', async () => {
		const reply = await bulk.call('GET', '/$export?_type=Patient,Observation&_elements=Patient.gender,subject', asynchronous);
		const { output } = await bulk.manifest(reply.headers.get('content-location') ?? '');
		const lines = new Map<string, FhirBody>();
		for (const { url } of output) for (const line of await bulk.lines(url)) lines.set(JSON.parse(line).id, JSON.parse(line));
		const anna = lines.get('anna');
		assert.deepEqual(Object.keys(anna ?? {}), ['resourceType', 'id', 'meta', 'gender']);
		assert.equal(anna?.['meta'].tag[0].code, 'SUBSETTED');
		assert.notEqual(anna?.['meta'].lastUpdated, undefined);
		assert.deepEqual(Object.keys(lines.get('a1') ?? {}), ['resourceType', 'id', 'meta', 'status', 'code', 'subject']);
	});

	test('of one type leaves the others whole', async () => {
		const files = await bulk.exported('/$export?_type=Patient,Observation&_elements=Patient.gender');
		assert.match(files.get('Observation')?.[0] ?? '', /"valueQuantity":\{"value":1\.5,/);
		assert.doesNotMatch(files.get('Patient')?.join() ?? '', /birthDate/);
	});
});

describe('an import of resources that claim profiles', () => {
	const vital = 'http://hl7.org/fhir/StructureDefinition/vitalsigns';
	const own = 'http://example.org/fhir/StructureDefinition/named-patient';
	const lines = [
		{ resourceType: 'Patient', id: 'unnamed', meta: { profile: [own] } },
		{ resourceType: 'Patient', id: 'named', meta: { profile: [own] }, name: [{ family: 'Named' }] },
		{ resourceType: 'Observation', id: 'v1', meta: { profile: [vital] }, status: 'final', code: { text: 'x' } },
		{ resourceType: 'Observation', id: 'p1', status: 'final', code: { text: 'x' } },
	];
	const imported = async () => other.manifest(await other.startImport(lines));
	const told = async ({ url }: { url: string }) => (await other.lines(url)).map((line) => JSON.parse(line));

	before(async () => {
		const definition = {
			resourceType: 'StructureDefinition',
			url: own,
			name: 'NamedPatient',
			type: 'Patient',
			baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
			derivation: 'constraint',
			kind: 'resource',
			status: 'active',
			abstract: false,
			fhirVersion: '4.0.1',
			differential: { element: [{ id: 'Patient.name', path: 'Patient.name', min: 1 }] },
		};
		const file = Buffer.from(JSON.stringify(definition)).toString('base64');
		await addProfiles(service.administration, { site: 'others', file });
	});

	test('refuses the lines that do not conform where the site enforces profiles', async () => {
		await setSite(service.administration, { slug: 'others', profiles: 'enforce' });
		const { output, error } = await imported();
		assert.deepEqual(
			output.map(({ type, count }: FhirBody) => [type, count]),
			[
				['Patient', 1],
				['Observation', 1],
			],
		);
		const [refusals, ...more] = error;
		assert.deepEqual([more, refusals.extension.severity, refusals.count], [[], 'error', 2]);
		const outcomes = await told(refusals);
		assert.deepEqual(outcomes.map(({ id }) => id).sort(), ['line-1', 'line-3']);
		assert.match(JSON.stringify(outcomes), /Patient\.name.*line 1: The profile NamedPatient requires/);
	});

	test('has a status that says how far it is, and a manifest that counts what became of its lines', async () => {
		await setSite(service.administration, { slug: 'others', profiles: 'off' });
		const people = Array.from({ length: 4000 }, (_, index) => ({ resourceType: 'Patient', id: `many-${index}` }));
		const status = await other.startImport(people);
		const seenStates = new Set<number>();
		for (;;) {
			const reply = await other.call('GET', status);
			seenStates.add(reply.status);
			if (reply.status !== 202) break;
			assert.match(reply.headers.get('x-progress') ?? '', /^(waiting|begun|\d+ of 4000 lines)$/);
			assert.match(reply.headers.get('retry-after') ?? '', /^\d+$/);
		}
		assert.deepEqual([...seenStates], [202, 200]);
		const { output, requiresAccessToken, request } = await other.manifest(status);
		assert.deepEqual(output, [{ type: 'Patient', count: 4000, extension: { created: 4000, updated: 0, unchanged: 0 } }]);
		assert.deepEqual([requiresAccessToken, request.endsWith('/fhir/$import')], [true, true]);
	});

	test('tells of them where the site warns, and not where profiles are off', async () => {
		await setSite(service.administration, { slug: 'others', profiles: 'warn' });
		const { output, error } = await imported();
		assert.equal(output.find(({ type }: FhirBody) => type === 'Patient').extension.created, 1);
		const [warnings, ...more] = error;
		assert.deepEqual([more, warnings.extension.severity, warnings.count], [[], 'warning', 2]);
		const outcomes = await told(warnings);
		assert.deepEqual(outcomes.map(({ id }) => id).sort(), ['line-1', 'line-3']);
		for (const { issue } of outcomes) assert.ok(issue.every(({ severity }: FhirBody) => severity !== 'error'));
		await setSite(service.administration, { slug: 'others', profiles: 'off' });
		assert.deepEqual((await imported()).error, []);
	});
});

describe('an export since a moment', () => {
	test('tells what was deleted since then, of the types and patients that were asked for', async () => {
		await setSite(service.administration, { slug: 'parts', deletes: true });
		const basic = (id: string, patient?: string): [string, object] => [
			`/Basic/${id}`,
			{
				resourceType: 'Basic',
				id,
				code: { text: 'x' },
				...(patient === undefined ? {} : { subject: { reference: `Patient/${patient}` } }),
			},
		];
		for (const [path, body] of [basic('gone-a', 'anna'), basic('gone-b', 'bert'), basic('gone'), basic('back')])
			await fhir('PUT', path, body);
		const before = new Date(Date.now() - 3_600_000).toISOString();
		for (const id of ['gone-a', 'gone-b', 'gone', 'back']) assert.equal((await fhir('DELETE', `/Basic/${id}`)).status, 204);
		await fhir('PUT', ...basic('back'));
		const deletedBy = async (reply: BulkReply) => {
			assert.equal(reply.status, 202, reply.text);
			const { deleted, output } = await bulk.manifest(reply.headers.get('content-location') ?? '');
			assert.ok(!output.some(({ type }: FhirBody) => type === 'Bundle'));
			if (deleted.length === 0) return [];
			assert.deepEqual([deleted[0].type, deleted.length], ['Bundle', 1]);
			const bundles = (await bulk.lines(deleted[0].url)).map((line) => JSON.parse(line));
			assert.equal(bundles.length, deleted[0].count);
			for (const { type, entry } of bundles) assert.deepEqual([type, entry[0].request.method], ['transaction', 'DELETE']);
			return bundles.flatMap(({ entry }) => entry.map(({ request }: FhirBody) => request.url)).sort();
		};
		const get = (path: string) => bulk.call('GET', path, asynchronous).then(deletedBy);
		assert.deepEqual(await get(`/$export?_since=${before}`), ['Basic/gone', 'Basic/gone-a', 'Basic/gone-b']);
		assert.deepEqual(await get(`/Patient/$export?_since=${before}`), ['Basic/gone-a', 'Basic/gone-b']);
		assert.deepEqual(await get(`/Group/outer/$export?_since=${before}`), ['Basic/gone-a']);
		assert.deepEqual(await get(`/$export?_since=${before}&_type=Patient,Claim`), []);
		assert.deepEqual(await get(`/$export?_since=${new Date(Date.now() + 60_000).toISOString()}`), []);
		assert.deepEqual(await get('/$export?_type=Basic'), []);
		const since = { name: '_since', valueInstant: before };
		const bert = { name: 'patient', valueReference: { reference: 'Patient/bert' } };
		assert.deepEqual(await deletedBy(await post('/Patient/$export', [since, bert])), ['Basic/gone-b']);
	});
});
