import { strict as assert } from 'node:assert';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { listIdentity } from '#administration/identity-work.ts';
import { setSite } from '#administration/sites.ts';
import { BulkClient } from '#test/support/bulk.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { anyResource } from '#test/support/fhir-generators.ts';
import { fc } from '#test/support/fuzzing.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tributary-import-'));
const chunkLines = 50;
let service: TestService;
let sites = 0;

interface ImportSite {
	slug: string;
	id: string;
	key: string;
	bulk: BulkClient;
	fhir: FhirCall;
}

before(async () => {
	const limits = {
		IMPORT_CHUNK_LINES_MAX: String(chunkLines),
		IMPORT_LINE_BYTES_MAX: '20000',
		IMPORT_BYTES_MAX: '5000000',
		IMPORT_REFUSED_MAX: '300',
	};
	service = await testService({ DATA_DIR: dataDir, BULK_KEPT_MAX: '1000', ...limits });
});

after(async () => {
	await service[Symbol.asyncDispose]();
	rmSync(dataDir, { recursive: true, force: true });
});

async function newSite(): Promise<ImportSite> {
	const slug = `site-${++sites}`;
	const { site, key } = await service.addSite(slug, { name: slug, allowed_ips: [`10.0.0.${sites}`] });
	return { slug, id: site.id, key, bulk: new BulkClient(service, key), fhir: fhirClient(service, key) };
}

const code = { coding: [{ system: 'http://loinc.org', code: '718-7' }] };
const patient = (id: string, more: object = {}) => ({ resourceType: 'Patient', id, ...more });
const observation = (patientId: string, more: object = {}) => ({
	resourceType: 'Observation',
	status: 'final',
	code,
	subject: { reference: `Patient/${patientId}` },
	...more,
});

/** A site whose resources may refer to patients that it does not have. */
async function uncheckedSite(): Promise<ImportSite> {
	const site = await newSite();
	await setSite(service.administration, { slug: site.slug, check_references: false });
	await eventually(
		async () => (await imported(site, [observation('nobody', { id: 'unchecked', meta: { source: 'urn:unchecked' } })])).error.length === 0,
		'the new setting',
	);
	return site;
}

async function imported({ bulk }: ImportSite, lines: string | readonly object[]): Promise<FhirBody> {
	return bulk.manifest(await bulk.startImport(lines));
}

/** Counts of a manifest by type: created, updated, unchanged. */
function counts(manifest: FhirBody): Record<string, [number, number, number]> {
	return Object.fromEntries(
		manifest.output.map(({ type, count, extension: { created, updated, unchanged } }: FhirBody) => {
			assert.equal(count, created + updated + unchanged);
			return [type, [created, updated, unchanged]];
		}),
	);
}

/** The issues of refused lines by line number. */
async function outcomes({ bulk }: ImportSite, manifest: FhirBody): Promise<Record<number, FhirBody[]>> {
	const [error] = manifest.error;
	if (error === undefined) return {};
	assert.equal(error.type, 'OperationOutcome');
	const lines = (await bulk.lines(error.url)).map((line) => JSON.parse(line));
	assert.equal(lines.length, error.count);
	return Object.fromEntries(lines.map(({ id, issue }) => [Number(id.slice('line-'.length)), issue]));
}

async function count({ id }: ImportSite, table: string): Promise<number> {
	const [row] = await service.rows<{ n: number }>(`select count(*)::integer as n from ${table} where site_id = $1`, [id]);
	return row?.n ?? 0;
}

function withoutVersion(line: string): FhirBody {
	const { meta, ...resource } = JSON.parse(line);
	const { versionId, lastUpdated, ...further } = meta;
	assert.equal(versionId, '1');
	assert.ok(Date.parse(lastUpdated) > 0);
	return { ...resource, meta: further };
}

describe('an import', () => {
	test('of an export makes the same record, and again changes nothing', async () => {
		const [from, to] = [await uncheckedSite(), await uncheckedSite()];
		const ids = ['a', 'b.c', '019a0000-0000-7000-8000-000000000001'];
		const resources = fc.sample(anyResource({ patientIds: ids }), { numRuns: 600, seed: 7 });
		const made = await imported(from, [...ids.map((id) => patient(id)), ...resources]);
		assert.deepEqual(await outcomes(from, made), {});
		const exported = await from.bulk.exported();
		const lines = [...exported.values()].flat();
		assert.equal(lines.length, 604);
		assert.equal(exported.size, 8);
		// The order of the lines does not matter.
		const mixed = lines.toSorted((left, right) => (left.slice(40) < right.slice(40) ? -1 : 1));
		const manifest = await imported(to, mixed.join('\n'));
		assert.deepEqual(await outcomes(to, manifest), {});
		const again = await to.bulk.exported();
		for (const [type, held] of exported) {
			const byId = new Map(again.get(type)?.map((line) => [JSON.parse(line).id, withoutVersion(line)]));
			assert.equal(byId.size, held.length, type);
			for (const line of held) assert.deepEqual(byId.get(JSON.parse(line).id), withoutVersion(line));
		}
		const repeated = counts(await imported(to, lines.join('\r\n')));
		for (const [type, [created, updated, unchanged]] of Object.entries(repeated)) {
			assert.deepEqual([created, updated, unchanged], [0, 0, exported.get(type)?.length], type);
		}
		assert.equal(await count(to, 'resource_history'), 0);
	});

	test('keeps every digit, and finds what it wrote by each search', async () => {
		const site = await newSite();
		const text = [
			'{"resourceType":"Patient","id":"P.1","identifier":[{"system":"urn:mrn","value":"X\\t1"}],"name":[{"family":"Öztürk\\tB"}],"birthDate":"1970-05"}',
			'',
			'{"resourceType":"Observation","id":"o1","meta":{"source":"urn:own","tag":[{"code":"x"}]},"status":"final","code":{"coding":[{"system":"http://loinc.org","code":"1-8"},{"code":"second"}]},"subject":{"reference":"Patient/P.1"},"effectiveDateTime":"2026-01-02","valueQuantity":{"value":1.00}}',
			'   ',
			'{"resourceType":"Condition","subject":{"reference":"Patient/P.1"},"code":{"text":"\\"q\\" \\\\ \\n end"}}',
		].join('\n');
		const status = await site.bulk.startImport(`\uFEFF${text}`);
		const manifest = await site.bulk.manifest(status);
		assert.deepEqual(counts(manifest), { Patient: [1, 0, 0], Observation: [1, 0, 0], Condition: [1, 0, 0] });
		const read = await site.fhir('GET', '/Observation/o1');
		assert.match(read.text, /"value":1\.00/);
		assert.equal(read.body.meta.source, 'urn:own');
		assert.deepEqual(read.body.meta.tag, [{ code: 'x' }]);
		assert.equal(read.headers.get('etag'), 'W/"1"');
		const id = status.split('/').at(-1);
		assert.equal((await site.fhir('GET', '/Patient/P.1')).body.meta.source, `urn:tributary:import:${id}`);
		for (const query of [
			`Patient?identifier=${encodeURIComponent('urn:mrn|X\t1')}`,
			'Patient?name=ÖZTÜRK',
			'Patient?birthdate=1970-05',
			'Observation?patient=P.1&code=http://loinc.org|1-8',
			'Observation?code=second&date=2026-01-02',
			'Condition?patient=Patient/P.1',
		]) {
			assert.equal((await site.fhir('GET', `/${query}`)).body.entry?.length, 1, query);
		}
		assert.match((await site.fhir('GET', '/Condition')).text, /\\"q\\" \\\\ \\n end/);
	});

	test('makes new versions of what is there, and keeps the old ones', async () => {
		const site = await newSite();
		assert.equal((await site.fhir('PUT', '/Patient/p', patient('p', { identifier: [{ value: 'old' }] }))).status, 201);
		const manifest = await imported(site, [
			patient('p', { identifier: [{ value: 'new' }], gender: 'female' }),
			patient('q', { gender: 'male' }),
			patient('q', { gender: 'other' }),
			patient('q', { gender: 'other' }),
			observation('p', { id: 'same' }),
		]);
		assert.deepEqual(counts(manifest), { Patient: [1, 2, 1], Observation: [1, 0, 0] });
		const p = await site.fhir('GET', '/Patient/p');
		assert.equal(p.body.meta.versionId, '2');
		assert.equal(p.body.gender, 'female');
		const first = await site.fhir('GET', '/Patient/p/_history/1');
		assert.deepEqual(first.body.identifier, [{ value: 'old' }]);
		const q = await site.fhir('GET', '/Patient/q/_history');
		assert.deepEqual(
			q.body.entry.map((entry: FhirBody) => entry.resource.gender),
			['other', 'male'],
		);
		assert.equal((await site.fhir('GET', '/Patient?identifier=new')).body.entry.length, 1);
		assert.equal((await site.fhir('GET', '/Patient?identifier=old')).body.entry, undefined);
	});

	test('lists what a FHIR write lists: a number that another patient has, and other demographics', async () => {
		const site = await newSite();
		const identifier = [{ system: 'urn:oid:1.2.3', value: 'N1' }];
		const ann = { identifier, name: [{ family: 'Right', given: ['Ann'] }], birthDate: '1950-01-01', gender: 'female' };
		const otto = { name: [{ family: 'Wrong', given: ['Otto'] }], birthDate: '1980-02-02', gender: 'male' };
		assert.equal((await site.fhir('PUT', '/Patient/ann', patient('ann', ann))).status, 201);
		const doubts = async () => {
			const { doubts: found } = await listIdentity(service.administration, { site: site.slug, kind: 'doubt', limit: 100 });
			return found.map(({ kind, count, last, patient: one }) => [kind, count, last.surface, one?.id]);
		};
		await imported(site, [patient('otto', { identifier, ...otto }), patient('free', { identifier: [{ value: 'N2' }] })]);
		assert.deepEqual(await doubts(), [['number-shared', 1, 'import', 'ann']]);
		await imported(site, [patient('free', { identifier: [...identifier, { value: 'N2' }] })]);
		assert.equal((await doubts()).length, 3, 'each pair is listed, also for a new version');
		await imported(site, [patient('ann', { identifier, ...otto })]);
		assert.deepEqual((await doubts())[0], ['mismatch', 1, 'import', 'ann']);
		await setSite(service.administration, { slug: site.slug, mismatch: 'accept' });
		await imported(site, [patient('ann', ann)]);
		assert.equal((await doubts()).filter(([kind]) => kind === 'mismatch').length, 1);
	});

	test('says of each line that it refuses where and why, and takes all others', async () => {
		const site = await newSite();
		const lines: string[] = [];
		for (let number = 0; number < 2000; number++) lines.push(JSON.stringify(observation('p', { valueInteger: number })));
		lines[0] = JSON.stringify(patient('p'));
		const bad: Record<number, [string, string, string | undefined]> = {
			2: ['nonsense', 'invalid', undefined],
			77: ['{"resourceType":"Observation","status":"final","status":"final"}', 'invalid', 'Observation'],
			500: ['{"resourceType":"Bundle"}', 'not-supported', 'resourceType'],
			501: [JSON.stringify({ ...observation('p'), code: undefined }), 'required', 'Observation.code'],
			999: [JSON.stringify(observation('nobody')), 'not-found', 'Observation.subject.reference'],
			1000: ['[]', 'invalid', undefined],
			1500: [JSON.stringify(observation('p', { note: [{ text: 'x'.repeat(30_000) }] })), 'too-long', undefined],
			1999: [JSON.stringify(patient('has space')), 'value', 'Patient.id'],
		};
		for (const [line, [text]] of Object.entries(bad)) lines[Number(line) - 1] = text;
		const manifest = await imported(site, lines.join('\n'));
		const found = await outcomes(site, manifest);
		assert.deepEqual(Object.keys(found), Object.keys(bad));
		for (const [line, [, issueCode, expression]] of Object.entries(bad)) {
			const [issue] = found[Number(line)] ?? [];
			assert.equal(issue.severity, 'error');
			assert.equal(issue.code, issueCode, `line ${line}: ${issue.diagnostics}`);
			assert.equal(issue.expression?.[0], expression, `line ${line}`);
			assert.match(issue.diagnostics, new RegExp(`^line ${line}: `));
			assert.doesNotMatch(issue.diagnostics, /nobody|nonsense|has space/);
		}
		assert.equal(await count(site, 'observation'), 2000 - 1 - 8);
		assert.equal(await count(site, 'patient'), 1);
	});

	test('finds patients wherever they stand in the file, and those who refer to one another', async () => {
		const site = await newSite();
		const link = (other: string, type: string) => ({ link: [{ other: { reference: `Patient/${other}` }, type }] });
		const filler = (from: number) => Array.from({ length: 3 * chunkLines }, (_, index) => patient(`f${from + index}`));
		const lines = [
			observation('late', { id: 'early' }),
			patient('a', link('z', 'replaced-by')),
			patient('lost', link('nobody', 'seealso')),
			patient('with-lost', link('lost', 'seealso')),
			...filler(0),
			patient('late'),
			{ resourceType: 'Patient', ...link('z', 'seealso') },
			...filler(1000),
			patient('z', link('a', 'replaces')),
		];
		const manifest = await imported(site, lines);
		assert.deepEqual(Object.keys(await outcomes(site, manifest)), ['3', '4']);
		assert.deepEqual(counts(manifest), { Patient: [4 + 6 * chunkLines, 0, 0], Observation: [1, 0, 0] });
		assert.equal((await site.fhir('GET', '/Patient/a')).body.link[0].other.reference, 'Patient/z');
		assert.equal((await site.fhir('GET', '/Observation?patient=late')).body.entry.length, 1);
	});

	test('does not look for patients where the site does not ask for it', async () => {
		const site = await uncheckedSite();
		assert.equal((await site.fhir('GET', '/Observation?patient=nobody')).body.entry.length, 1);
	});

	test('leaves out the one line that the database does not take', async () => {
		const site = await newSite();
		await service.rows("alter table patient add constraint not_this_one check (given_id is distinct from 'poison')");
		const lines = Array.from({ length: 120 }, (_, index) => patient(index === 60 ? 'poison' : `p${index}`));
		const manifest = await imported(site, lines);
		const found = await outcomes(site, manifest);
		assert.deepEqual(Object.keys(found), ['61']);
		assert.equal(found[61]?.[0].code, 'exception');
		assert.deepEqual(counts(manifest), { Patient: [119, 0, 0] });
	});

	test('keeps the order of versions with writers beside it', async () => {
		const site = await newSite();
		const lines = Array.from({ length: 20 * chunkLines }, (_, index) => patient(`p${index % 10}`, { multipleBirthInteger: index }));
		const status = await site.bulk.startImport(lines);
		let isOver = false;
		let written = 0;
		const write = async () => {
			for (let number = 0; !isOver || written < 20; number++) {
				const reply = await site.fhir('PUT', `/Patient/p${number % 10}`, patient(`p${number % 10}`, { active: number % 2 === 0 }));
				assert.ok(reply.status === 200 || reply.status === 201, reply.text);
				written++;
			}
		};
		const writers = [write(), write()];
		const manifest = await site.bulk.manifest(status);
		isOver = true;
		await Promise.all(writers);
		assert.deepEqual(await outcomes(site, manifest), {});
		const rows = await service.rows<{ id: string; version: number; kept: number; last: number }>(
			`select p.given_id as id, p.version, count(h.version)::integer as kept, max(h.version) as last
			from patient p join resource_history h on h.site_id = p.site_id and h.id = p.id where p.site_id = $1 group by 1, 2`,
			[site.id],
		);
		assert.equal(rows.length, 10);
		for (const { version, kept, last } of rows) assert.deepEqual([kept, last], [version - 1, version - 1]);
	});

	test('goes on after its connection to the database was cut', async () => {
		const site = await newSite();
		const lines = [patient('p'), ...Array.from({ length: 40 * chunkLines }, (_, index) => observation('p', { valueInteger: index }))];
		const status = await site.bulk.startImport(lines);
		let cuts = 0;
		let isOver = false;
		const cutting = (async () => {
			while (!isOver) {
				const cut = await service.rows(
					"select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tributary import' and datname = current_database()",
				);
				cuts += cut.length;
				// Each pause is longer, so that a chunk fits into one of them on any machine.
				await new Promise((resolve) => setTimeout(resolve, 20 * cuts));
			}
		})();
		const manifest = await site.bulk.manifest(status);
		isOver = true;
		await cutting;
		assert.ok(cuts > 0);
		assert.deepEqual(counts(manifest), { Patient: [1, 0, 0], Observation: [40 * chunkLines, 0, 0] });
		assert.equal(await count(site, 'observation'), 40 * chunkLines);
	});

	test('that is cancelled ends between two chunks', async () => {
		const site = await newSite();
		const lines = [patient('p'), ...Array.from({ length: 100 * chunkLines }, (_, index) => observation('p', { valueInteger: index }))];
		const status = await site.bulk.startImport(lines);
		await eventually(async () => (await count(site, 'observation')) > 0, 'the first chunk');
		assert.equal((await site.bulk.call('DELETE', status)).status, 202);
		assert.equal((await site.bulk.call('GET', status)).status, 404);
		await eventually(() => !existsSync(join(dataDir, 'imports', status.split('/').at(-1) ?? '')), 'the end of its files');
		const held = await count(site, 'observation');
		assert.ok(held < 100 * chunkLines, `${held} of all`);
		assert.equal((held + 1) % chunkLines, 0, 'chunks are whole');
	});

	test('fails when too many lines are refused, and still says which', async () => {
		const site = await newSite();
		const status = await site.bulk.startImport('x\n'.repeat(2000));
		const reply = await site.bulk.ended(status);
		assert.equal(reply.status, 500);
		assert.match(reply.text, /more than 300 lines/);
		const file = status.replace('$import-status', '$import-file');
		assert.ok((await site.bulk.lines(`${file}/OperationOutcome.ndjson`)).length > 300);
	});

	test('is refused when it is not sent as it has to be', async () => {
		const site = await newSite();
		const ndjson = { 'Content-Type': 'application/fhir+ndjson' };
		const post = (headers: Record<string, string>, body = '{}', path = '/$import') => site.bulk.call('POST', path, headers, body);
		assert.equal((await post({ 'Content-Type': 'application/fhir+json' })).status, 415);
		assert.equal((await post({ ...ndjson, 'Content-Encoding': 'gzip' })).status, 415);
		assert.equal((await post(ndjson, '{}', '/$import?mode=x')).status, 400);
		assert.equal((await post(ndjson, 'x'.repeat(5_000_001))).status, 413);
		assert.equal((await new BulkClient(service, 'none').call('POST', '/$import', ndjson, '{}')).status, 401);
		assert.equal((await site.bulk.call('GET', '/$import')).status, 405);
		const [row] = await service.rows<{ n: number }>('select count(*)::integer as n from bulk_job where site_id = $1', [site.id]);
		assert.equal(row?.n, 0);
		assert.deepEqual(counts(await imported(site, '')), {});
	});

	test('that is broken off by its sender leaves nothing', async () => {
		const site = await newSite();
		const before = readdirSync(join(dataDir, 'imports')).length;
		const socket = connect(service.port('fhir'), '127.0.0.1');
		const head = `POST /fhir/$import HTTP/1.1\r\nHost: x\r\nX-API-Key: ${site.key}\r\nContent-Type: application/fhir+ndjson\r\n`;
		socket.write(`${head}Content-Length: 100000\r\n\r\n${JSON.stringify(patient('p'))}\n`);
		await eventually(() => readdirSync(join(dataDir, 'imports')).length === before + 1, 'the file');
		socket.destroy();
		await eventually(() => readdirSync(join(dataDir, 'imports')).length === before, 'the end of the file');
		await eventually(
			async () => (await service.rows('select 1 from bulk_job where site_id = $1', [site.id])).length === 0,
			'the end of the job',
		);
		assert.equal(await count(site, 'patient'), 0);
	});

	test('belongs to its site', async () => {
		const [site, other] = [await newSite(), await newSite()];
		const status = await site.bulk.startImport('nonsense');
		const manifest = await site.bulk.manifest(status);
		assert.equal((await other.bulk.call('GET', status)).status, 404);
		assert.equal((await other.bulk.call('DELETE', status)).status, 404);
		assert.equal((await other.bulk.call('GET', manifest.error[0].url)).status, 404);
		assert.equal((await site.bulk.call('GET', manifest.error[0].url)).status, 200);
		assert.equal(await count(other, 'patient'), 0);
	});
});
