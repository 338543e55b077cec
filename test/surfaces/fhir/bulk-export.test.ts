import { strict as assert } from 'node:assert';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { adt } from '#test/support/adt.ts';
import { BulkClient } from '#test/support/bulk.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tributary-export-'));
let service: TestService;
let west: BulkClient;
let east: BulkClient;
let westKey: string;
let fhir: FhirCall;

before(async () => {
	service = await testService({ DATA_DIR: dataDir, BULK_KEPT_MAX: '1000' });
	westKey = (await service.addSite('west')).key;
	west = new BulkClient(service, westKey);
	east = new BulkClient(service, (await service.addSite('east', { name: 'other', allowed_ips: ['10.0.0.1'] })).key);
	fhir = fhirClient(service, westKey);
	for (const [path, body] of resources) assert.equal((await fhir('PUT', path, body)).status, 201, path);
	const sender = await MllpClient.connect(service.port('mllp'));
	await sender.send(`${adt('1', 'HL7-1', 1, 'A01')}PV1|1|I|||||||||||||||||V1\r`);
	sender.close();
});

after(async () => {
	await service[Symbol.asyncDispose]();
	rmSync(dataDir, { recursive: true, force: true });
});

const subject = { reference: 'Patient/anna' };
const code = { coding: [{ system: 'http://loinc.org', code: '718-7' }] };
const resources: [string, unknown][] = [
	['/Patient/anna', { resourceType: 'Patient', id: 'anna', name: [{ text: 'Anna "Ä" \\ Example\n\tx' }] }],
	['/Patient/bare', { resourceType: 'Patient', id: 'bare' }],
	['/Patient/019a0000-0000-7000-8000-000000000001', { resourceType: 'Patient', gender: 'female' }],
	[
		'/Observation/o1',
		`{"resourceType":"Observation","id":"o1","meta":{"source":"urn:a\\"b","profile":["http://example.org/p"],"tag":[{"code":"t"}]},"status":"final","code":{"text":"x"},"subject":{"reference":"Patient/anna"},"valueQuantity":{"value":1.00}}`,
	],
	['/Observation/nobody', { resourceType: 'Observation', id: 'nobody', status: 'final', code }],
	['/Condition/c1', { resourceType: 'Condition', id: 'c1', subject, code }],
];

/** Holds back every export until it is released. */
async function heldBack(work: () => Promise<void>): Promise<void> {
	const client = new pg.Client({ connectionString: service.databaseUrl });
	await client.connect();
	try {
		await client.query('begin');
		await client.query('lock table patient in access exclusive mode');
		await work();
	} finally {
		await client.end();
	}
}

const running = (status: string) => async () => (await west.call('GET', status)).headers.get('x-progress') !== 'waiting';

describe('an export', () => {
	test('has every resource of the site as a read gives it', async () => {
		const status = await west.startExport();
		const manifest = await west.manifest(status);
		assert.equal(manifest.request, `http://127.0.0.1:${service.port('fhir')}/fhir/$export`);
		assert.equal(manifest.requiresAccessToken, true);
		assert.deepEqual(manifest.error, []);
		assert.ok(Date.parse(manifest.transactionTime) <= Date.now());
		const counts = Object.fromEntries(manifest.output.map(({ type, count }: { type: string; count: number }) => [type, count]));
		assert.deepEqual(counts, { Patient: 4, Condition: 1, Observation: 2, Encounter: 1 });
		for (const { type, url, count } of manifest.output) {
			const lines = await west.lines(url);
			assert.equal(lines.length, count);
			for (const line of lines) assert.equal((await fhir('GET', `/${type}/${JSON.parse(line).id}`)).text, line);
		}
	});

	test('has one line for each resource, whatever white space its text was stored with', async () => {
		const [site] = await service.rows<{ id: string }>("select id from site where slug = 'east'");
		await service.rows(
			`insert into condition (site_id, id, version, last_updated, resource, meta)
			select $1, gen_random_uuid(), 1, now(), E'{"code":\n\t{"text":"a\\\\n\u0001"},\r\n"x":' || i || '}', '{}' from generate_series(1, 1000) i`,
			[site?.id],
		);
		const lines = (await east.exported()).get('Condition') ?? [];
		assert.equal(lines.length, 1000);
		assert.deepEqual(new Set(lines.map((line) => JSON.parse(line).x)).size, 1000);
		for (const line of lines) assert.equal(JSON.parse(line).code.text, 'a\n');
	});

	test('is answered with its place, then with its progress', async () => {
		const reply = await west.call('GET', '/$export', { Prefer: 'respond-async' });
		assert.equal(reply.status, 202);
		assert.equal(JSON.parse(reply.text).resourceType, 'OperationOutcome');
		await heldBack(async () => {
			const status = await west.startExport();
			const answer = await west.call('GET', status);
			assert.equal(answer.status, 202);
			assert.notEqual(answer.headers.get('x-progress'), null);
			assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
			await west.call('DELETE', status);
		});
		const done = await west.ended(reply.headers.get('content-location') ?? '');
		assert.equal(done.headers.get('content-type'), 'application/json');
		assert.ok(Date.parse(done.headers.get('expires') ?? '') > Date.now());
	});

	test('of a file is NDJSON, compressed when asked, and has no body for HEAD', async () => {
		const { output } = await west.manifest(await west.startExport('/$export?_type=Patient'));
		const [{ url }] = output;
		const plain = await west.call('GET', url);
		assert.equal(plain.headers.get('content-type'), 'application/fhir+ndjson');
		const coded = await fetch(url, { headers: { 'X-API-Key': westKey, 'Accept-Encoding': 'gzip' } });
		assert.equal(coded.headers.get('content-encoding'), 'gzip');
		assert.equal(await coded.text(), plain.text);
		assert.equal((await west.call('HEAD', url)).text, '');
	});

	test('takes _type, _since and _outputFormat, in the query and as Parameters', async () => {
		const types = async (path: string) => [...(await west.exported(path)).keys()].sort();
		assert.deepEqual(await types('/$export?_type=Observation,Condition&_outputFormat=application/fhir+ndjson'), [
			'Condition',
			'Observation',
		]);
		assert.deepEqual(await types('/$export?_type=Patient&_type=Condition&_outputFormat=ndjson'), ['Condition', 'Patient']);
		const before = new Date(Date.now() - 3_600_000).toISOString();
		assert.equal((await types(`/$export?_since=${before}`)).length, 4);
		assert.deepEqual(await types(`/$export?_since=${new Date(Date.now() + 60_000).toISOString()}`), []);
		assert.deepEqual(await types('/$export?_since=2000-01-01T00:00:00+01:00&_type=Condition'), ['Condition']);
		const parameters = {
			resourceType: 'Parameters',
			parameter: [
				{ name: '_type', valueString: 'Patient' },
				{ name: '_since', valueInstant: before },
			],
		};
		const posted = await west.call(
			'POST',
			'/$export',
			{ Prefer: 'respond-async', 'Content-Type': 'application/fhir+json' },
			JSON.stringify(parameters),
		);
		const manifest = await west.manifest(posted.headers.get('content-location') ?? '');
		assert.deepEqual(
			manifest.output.map(({ type }: { type: string }) => type),
			['Patient'],
		);
	});

	test('of patients leaves out what is about none', async () => {
		const files = await west.exported('/Patient/$export');
		assert.deepEqual([...files.keys()].sort(), ['Condition', 'Encounter', 'Observation', 'Patient']);
		assert.deepEqual(
			files.get('Observation')?.map((line) => JSON.parse(line).id),
			['o1'],
		);
	});

	test('is refused when it is not asked for as it has to be', async () => {
		const async = { Prefer: 'respond-async' };
		const refused = async (path: string, headers: Record<string, string>, named: RegExp) => {
			const reply = await west.call('GET', path, headers);
			assert.equal(reply.status, 400, path);
			assert.match(reply.text, named);
		};
		await refused('/$export', {}, /respond-async/);
		await refused('/$export?_typeFilter=Patient%3Fnothing%3Dx', async, /_typeFilter.*nothing/);
		await refused('/$export?includeAssociatedData=LatestProvenanceResources', async, /includeAssociatedData/);
		await refused('/$export?_elements=Patient.name.family', async, /_elements/);
		await refused('/Patient/$export?patient=Patient/anna', async, /patient is taken from a Parameters/);
		await refused('/$export?_type=Bundle', async, /_type/);
		await refused('/$export?_since=2020', async, /_since/);
		await refused('/$export?_outputFormat=text/csv', async, /_outputFormat/);
		const lenient = { Prefer: 'respond-async, handling=lenient' };
		const taken = await west.call('GET', '/$export?_typeFilter=x&_type=Bundle,Condition', lenient);
		const manifest = await west.manifest(taken.headers.get('content-location') ?? '');
		assert.equal(manifest.output.length, 1);
		const [told] = manifest.error;
		assert.deepEqual([told.type, told.count], ['OperationOutcome', 2]);
		const outcomes = (await west.lines(told.url)).map((line) => JSON.parse(line).issue[0]);
		assert.deepEqual(
			outcomes.map(({ severity }: { severity: string }) => severity),
			['warning', 'warning'],
		);
		assert.match(JSON.stringify(outcomes), /_typeFilter/);
		assert.equal((await west.call('GET', '/$export', { ...async, Accept: 'application/fhir+xml' })).status, 406);
		assert.equal((await new BulkClient(service, 'none').call('GET', '/$export', async)).status, 401);
	});

	test('reads its body as every operation does: Parameters as FHIR JSON, of a bounded length', async () => {
		const send = async (body: string, type = 'application/fhir+json') =>
			(await west.call('POST', '/$export', { Prefer: 'respond-async', 'Content-Type': type }, body)).status;
		const parameters = JSON.stringify({ resourceType: 'Parameters', parameter: [{ name: '_type', valueCode: 'Patient' }] });
		assert.equal(await send(parameters, 'text/plain'), 415);
		assert.equal(await send('{"resourceType":"Patient"}'), 400);
		assert.equal(await send(`${parameters.slice(0, -1)}${' '.repeat(2_700_000)}}`), 413);
		assert.equal(await send(parameters), 202);
	});

	test('belongs to its site', async () => {
		const status = await west.startExport();
		const { output } = await west.manifest(status);
		const id = status.split('/').at(-1) ?? '';
		for (const url of [status, ...output.map(({ url }: { url: string }) => url)])
			assert.equal((await east.call('GET', url)).status, 404, url);
		assert.equal((await east.call('DELETE', status)).status, 404);
		assert.equal((await new BulkClient(service, 'none').call('GET', output[0].url)).status, 401);
		for (const path of [
			'/$export-status/none',
			'/$export-status/019a0000-0000-7000-8000-000000000001',
			`/$import-status/${id}`,
			`/$export-file/${id}/Device.ndjson`,
			`/$export-file/${id}/Patient.txt`,
			`/$export-file/${id}/..%2Fbody`,
		]) {
			assert.equal((await west.call('GET', path)).status, 404, path);
		}
		assert.equal((await west.call('GET', output[0].url)).status, 200);
	});

	test('is cancelled by DELETE, and leaves nothing', async () => {
		const folder = (status: string) => join(dataDir, 'exports', status.split('/').at(-1) ?? '');
		const done = await west.startExport();
		await west.manifest(done);
		assert.equal((await west.call('DELETE', done)).status, 202);
		assert.equal((await west.call('GET', done)).status, 404);
		assert.ok(!existsSync(folder(done)));
		await heldBack(async () => {
			const status = await west.startExport();
			await eventually(running(status), 'the start of the export');
			assert.equal((await west.call('DELETE', status)).status, 202);
			assert.equal((await west.call('GET', status)).status, 404);
			await eventually(() => !existsSync(folder(status)), 'the end of the export');
		});
	});

	test('beyond the number that a site may have under way is refused for now', async () => {
		await heldBack(async () => {
			const held = [await west.startExport(), await west.startExport()];
			const refused = await west.call('GET', '/$export', { Prefer: 'respond-async' });
			assert.equal(refused.status, 429);
			assert.notEqual(refused.headers.get('retry-after'), null);
			assert.equal(JSON.parse(refused.text).issue[0].code, 'throttled');
			await east.startExport();
			for (const status of held) await west.call('DELETE', status);
			await west.call('DELETE', await west.startExport());
		});
	});

	test('whose connection is cut fails, and says so', async () => {
		await heldBack(async () => {
			const status = await west.startExport();
			await eventually(running(status), 'the start of the export');
			// The first that is found may be that of an export which was cancelled a moment ago.
			await eventually(async () => {
				await service.rows(
					`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tributary export' and query like 'copy%' and datname = current_database()`,
				);
				return (await west.call('GET', status)).status !== 202;
			}, 'the end of the export');
			const reply = await west.ended(status);
			assert.equal(reply.status, 500);
			assert.equal(JSON.parse(reply.text).issue[0].severity, 'error');
			assert.match(reply.text, /database/);
		});
	});

	test('shows one moment while others write, and the next since then has all the rest', async () => {
		let isOver = false;
		let pairs = 0;
		const write = async (writer: number) => {
			for (let number = 0; !isOver; number++) {
				const name = `pair-${writer}-${number}`;
				const entry = (resource: { resourceType: string; id: string }) => ({
					resource,
					request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
				});
				const bundle = {
					resourceType: 'Bundle',
					type: 'transaction',
					entry: [
						entry({ resourceType: 'Patient', id: name }),
						entry({ resourceType: 'Observation', id: name, status: 'final', code, subject: { reference: `Patient/${name}` } } as never),
					],
				};
				assert.equal((await fhir('POST', '', bundle)).status, 200);
				pairs++;
			}
		};
		const writers = [0, 1, 2].map(write);
		await eventually(() => pairs > 30, 'writers');
		const status = await west.startExport('/$export?_type=Patient,Observation');
		const first = await west.manifest(status);
		const atEnd = pairs;
		await eventually(() => pairs > atEnd + 10, 'more writes');
		isOver = true;
		await Promise.all(writers);
		const idsOf = async (manifest: { output: { type: string; url: string }[] }, type: string) => {
			const file = manifest.output.find((output) => output.type === type);
			const lines = file === undefined ? [] : await west.lines(file.url);
			return new Set(lines.map((line) => JSON.parse(line).id as string).filter((id) => id.startsWith('pair-')));
		};
		const [patients, observations] = [await idsOf(first, 'Patient'), await idsOf(first, 'Observation')];
		assert.ok(patients.size > 30);
		assert.deepEqual([...observations].sort(), [...patients].sort());
		const next = await west.manifest(await west.startExport(`/$export?_since=${first.transactionTime}`));
		const later = await idsOf(next, 'Patient');
		assert.equal(new Set([...patients, ...later]).size, pairs);
	});

	test('leaves a trace of who asked for it and who fetched it', async () => {
		const status = await west.startExport();
		const { output } = await west.manifest(status);
		await west.lines(output[0].url);
		await west.call('DELETE', status);
		const id = status.split('/').at(-1);
		const events = await service.rows<{ action: string; actor: string; site_id: string | null; source: string }>(
			'select action, actor, site_id, source from audit_event where subject = $1 order by recorded_at',
			[id],
		);
		assert.deepEqual(
			events.map(({ action }) => action),
			['bulk.export', 'bulk.export.read', 'bulk.export.delete'],
		);
		for (const { actor, site_id, source } of events) {
			assert.match(actor, /^key:\w+/);
			assert.notEqual(site_id, null);
			assert.equal(source, '127.0.0.1');
		}
	});

	test('outlives a restart when it is done, and is interrupted by one when it is not', async () => {
		const done = new URL(await west.startExport()).pathname;
		await west.manifest(`${done.slice('/fhir'.length)}`);
		let under = '';
		await heldBack(async () => {
			under = new URL(await west.startExport()).pathname;
			await eventually(running(under.slice('/fhir'.length)), 'the start of the export');
			await service.restart();
		});
		const manifest = await west.manifest(done.slice('/fhir'.length));
		assert.ok((await west.lines(manifest.output[0].url)).length > 0);
		const reply = await west.ended(under.slice('/fhir'.length));
		assert.equal(reply.status, 500);
		assert.match(reply.text, /interrupted/);
	});
});

test('results of exports are removed at their age, and are kept in a bounded number', async () => {
	const directory = mkdtempSync(join(tmpdir(), 'tributary-age-'));
	await using aging = await testService({ DATA_DIR: directory, BULK_AGE_MS_MAX: '1500', BULK_KEPT_MAX: '2' });
	const { key } = await aging.addSite('north');
	const client = new BulkClient(aging, key);
	const first = await client.startExport();
	await client.manifest(first);
	await client.manifest(await client.startExport());
	const refused = await client.call('GET', '/$export', { Prefer: 'respond-async' });
	assert.equal(refused.status, 429);
	assert.match(refused.text, /kept/);
	await eventually(async () => (await client.call('GET', first)).status === 404, 'the end of the first');
	await eventually(() => readdirSync(join(directory, 'exports')).length === 0, 'the end of its files');
	await client.startExport();
	rmSync(directory, { recursive: true, force: true });
});
