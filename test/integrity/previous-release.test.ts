import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { migrate } from '#storage/migrate.ts';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { Line } from '#test/fault/line.ts';
import { emptyDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/eventually.ts';
import { LedgerClient, ledgerSites } from '#test/support/ledger/client.ts';
import { faultOf } from '#test/support/ledger/verdict.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { previousRelease } from '#test/support/previous-release.ts';
import { ServiceProcess } from '#test/support/service-process.ts';

/**
 * From release 0.1.0 on a migration only expands the schema: while the nodes of a network are replaced one by one, the release before
 * this one works on the schema of this one. It is checked out from the history of git; PREVIOUS_RELEASE names another.
 */
const root = join(import.meta.dirname, '../..');

const previous = previousRelease() ?? '';

/** The files of another commit, with the dependencies of this one. */
function checkedOut(commit: string): string {
	const folder = mkdtempSync(join(tmpdir(), 'tributary-previous-'));
	execFileSync('bash', ['-c', `git archive ${commit} | tar -x -C "${folder}"`], { cwd: root });
	symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
	return folder;
}

/** What clients of a node do; the ids keep the two nodes apart. */
async function use(node: ServiceProcess, key: string, number: string, commandLine = node): Promise<void> {
	const headers = { 'X-API-Key': key };
	const sender = await MllpClient.connect(node.port('mllp'));
	try {
		const admission = `MSH|^~\\&|ADT|NORTH|||20260105||ADT^A01|${number}-1|P|2.5.1\rPID|1||${number}^^^MRN||Rivers^Alba||19810612|F\rPV1|1|I|||||||||||||||||V${number}\rDG1|1||J18.9^Pneumonia^I10\r`;
		assert.match(await sender.send(admission), /MSA\|AA/);
		const result = `MSH|^~\\&|LAB|NORTH|||20260105||ORU^R01|${number}-2|P|2.5.1\rPID|1||${number}^^^MRN\rOBR|1||F${number}|718-7^Hemoglobin^LN\rOBX|1|NM|718-7^Hemoglobin^LN||13.20|g/dL|||||F\r`;
		assert.match(await sender.send(result), /MSA\|AA/);
		assert.match(await sender.send(result), /MSA\|AA/, 'a repeat gets the same answer');
	} finally {
		sender.socket.destroy();
	}
	const fhir = `http://127.0.0.1:${node.port('fhir')}/fhir`;
	const found = (await (
		await fetch(`${fhir}/Observation?patient.identifier=${number}&_include=Observation:patient`, { headers })
	).json()) as {
		entry?: { resource: { resourceType: string } }[];
	};
	assert.deepEqual(found.entry?.map(({ resource }) => resource.resourceType).sort(), ['Observation', 'Patient']);
	const body = JSON.stringify({ resourceType: 'Patient', identifier: [{ system: 'urn:mrn', value: `W${number}` }] });
	const type = { 'Content-Type': 'application/fhir+json' };
	const created = await fetch(`${fhir}/Patient`, { method: 'POST', headers: { ...headers, ...type }, body });
	assert.equal(created.status, 201);
	const step = JSON.stringify({ sop_instance_uid: `1.2.3.${number}`, study_uid: `1.2.4.${number}`, status: 'IN PROGRESS' });
	const steps = `http://127.0.0.1:${node.port('mpps')}/ingest`;
	const reported = await fetch(steps, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: step });
	assert.equal(reported.status, 200);
	const logged = await commandLine.cli('messages', 'list', '--site', 'north', '--json');
	assert.equal(logged.code, 0, logged.stderr);
	assert.ok(logged.stdout.includes(`${number}-1`));
}

/** docs/operations.md: what the previous release cannot read is not written while it runs. */
const readable = { COMPACT_TEXT_MIN: '0', SEGMENTED_OBJECT_BYTES_MAX: '0' };

describe('an upgrade, one node after the other', { skip: without('history') }, () => {
	let folder = '';
	before(() => {
		folder = checkedOut(previous);
	});
	after(() => rmSync(folder, { recursive: true, force: true }));

	test('the previous release works on the schema of this one, beside it', async () => {
		await using old = new ServiceProcess({}, folder);
		await old.start();
		const cli = async (...parameters: string[]) => {
			const { code, stdout, stderr } = await old.cli(...parameters);
			assert.equal(code, 0, stderr);
			return stdout;
		};
		await cli('site', 'add', 'north', '--name', 'North');
		await cli('user', 'add', 'ann@example.org', '--admin');
		await cli('client', 'add', '--site', 'north', '--name', 'loopback', '--protocol', 'hl7-mllp', '--allow-ip', '127.0.0.1');
		const { key } = JSON.parse(await cli('key', 'create', '--site', 'north', '--owner', 'ann@example.org', '--json')) as { key: string };
		const metadata = () => fetch(`http://127.0.0.1:${old.port('fhir')}/fhir/metadata`, { headers: { 'X-API-Key': key } });
		await eventually(async () => (await metadata()).ok, 'the key');
		await use(old, key, '1001');
		const databaseUrl = readRuntimeFile(old.dataDir)?.databaseUrl ?? '';
		await migrate(databaseUrl);
		// The command line of release 0.1.0 refuses a schema newer than itself; a service that runs goes on.
		await using young = new ServiceProcess({ DATABASE_URL: databaseUrl, ...readable });
		await use(old, key, '1002', young);
		await young.start();
		await use(young, key, '1003');
		await use(old, key, '1004', young);
		const written = await fetch(`http://127.0.0.1:${old.port('fhir')}/fhir/Observation?patient.identifier=1003`, {
			headers: { 'X-API-Key': key },
		});
		const { entry } = (await written.json()) as { entry?: { resource: { status?: string } }[] };
		assert.deepEqual(
			entry?.map(({ resource }) => resource.status),
			['final'],
		);
	});

	test('nodes take over one by one while senders send: nothing is refused, and what was acknowledged is there once and in order', async () => {
		const objects = mkdtempSync(join(tmpdir(), 'tributary-objects-'));
		await using database = await emptyDatabase();
		const settings = { DATABASE_URL: database.url, OBJECT_STORE_URL: `file:${objects}` };
		await using old = new ServiceProcess(settings, folder);
		await old.start();
		const sites = await ledgerSites(database.url, 2);
		let serving: ServiceProcess = old;
		// A balancer makes each new connection to the node that serves by then.
		using mllp = await new Line(() => ({ port: serving.port('mllp') })).listen();
		using hl7 = await new Line(() => ({ port: serving.port('hl7') })).listen();
		using mpps = await new Line(() => ({ port: serving.port('mpps') })).listen();
		using fhir = await new Line(() => ({ port: serving.port('fhir') })).listen();
		using dimse = await new Line(() => ({ port: serving.port('dimse') })).listen();
		const lines: Record<string, Line> = { mllp, hl7, mpps, fhir, dimse };
		const ledger = new LedgerClient(sites, { port: (surface) => lines[surface]?.port ?? 0, answerMsMax: 20_000 }, [
			...(['mllp', 'hl7', 'v3', 'mpps', 'fhir-create', 'fhir-transaction', 'dimse'] as const),
		]);
		const over = new AbortController();
		const more = (count: number) => eventually(() => ledger.counts.accepted >= count, `${count} acknowledged`);
		const work = ledger.run({ signal: over.signal });
		try {
			await more(60);
			await using young = new ServiceProcess({ ...settings, ...readable });
			await young.start();
			const both = ledger.counts.accepted;
			await more(both + 60);
			serving = young;
			assert.equal(await old.end('SIGTERM'), 0);
			const alone = ledger.counts.accepted;
			await more(alone + 120);
			over.abort();
			await work;
			assert.equal(ledger.counts.refused, 0);
			assert.equal(faultOf(await ledger.verdict(database.url)), undefined);
		} finally {
			over.abort();
			await work;
			rmSync(objects, { recursive: true, force: true });
		}
	});
});
