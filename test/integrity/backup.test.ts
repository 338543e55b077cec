import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { silentLog } from '#core/log.ts';
import { watchBackups } from '#storage/backup-age.ts';
import { migrate, pendingMigrations } from '#storage/migrate.ts';
import { migrationsIn } from '#storage/migrations.ts';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { doorTo } from '#test/support/door.ts';
import { eventually } from '#test/support/eventually.ts';
import { opened, sendImages } from '#test/support/images.ts';
import { LedgerClient, ledgerSites } from '#test/support/ledger/client.ts';
import type { LedgerSite } from '#test/support/ledger/sender.ts';
import { storedWork } from '#test/support/ledger/stored.ts';
import { faultOf, verdictOf } from '#test/support/ledger/verdict.ts';
import { S3Server } from '#test/support/s3-server.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { administer, urlOf } from '#test/support/template.ts';
import { terminal } from '#test/support/terminal.ts';

const place = mkdtempSync(join(tmpdir(), 'tributary-backup-'));
after(() => rmSync(place, { recursive: true, force: true }));

const databaseOf = (service: ServiceProcess) => readRuntimeFile(service.dataDir)?.databaseUrl ?? '';

async function onDatabase<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	try {
		return await use(client);
	} finally {
		await client.end();
	}
}

/** An instance as WADO-RS returns it; what is asked for is the file as it was received. */
async function retrieved(service: ServiceProcess, { key }: LedgerSite, uid: string): Promise<{ status: number; digest: string }> {
	const studyUid = uid.slice(0, uid.lastIndexOf('.'));
	const path = `/dicomweb/studies/${studyUid}/series/${studyUid}.1/instances/${uid}`;
	const headers = { 'X-API-Key': key, Accept: 'multipart/related; type="application/dicom"; transfer-syntax=*' };
	const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}${path}`, { headers });
	const boundary = /boundary="?([^";]+)/.exec(answer.headers.get('content-type') ?? '')?.[1] ?? 'none';
	const body = Buffer.from(await answer.arrayBuffer());
	// The part begins with its address, and with the empty preamble of the file.
	const file = body.subarray(body.indexOf('DICM'), body.lastIndexOf(`\r\n--${boundary}`));
	return { status: answer.status, digest: createHash('sha256').update(file).digest('hex') };
}

describe('a backup that is made while senders send', () => {
	test('is restored on another node after the first was killed: what was acknowledged before is there once and in order', async () => {
		await using first = new ServiceProcess();
		await first.start();
		await first.commands(['user', 'add', 'owner@example.org', '--admin']);
		const sites = await ledgerSites(databaseOf(first), 3);
		const ledger = new LedgerClient(sites, { port: (surface) => first.port(surface) }, [
			'mllp',
			'hl7',
			'fhir',
			'fhir-transaction',
			'fhir-update',
			'dimse',
			'stow',
			'mpps',
		]);
		const stop = new AbortController();
		const sending = ledger.run({ signal: stop.signal, everyMs: 30 });
		await eventually(() => ledger.counts.accepted > 400, 'acknowledgements');

		const before = ledger.entries.filter(({ answer }) => answer === 'accepted').map((entry) => ({ ...entry }));
		const [made] = await first.commands(['backup', '--to', place]);
		assert.equal(made.objects_missing, 0);
		assert.ok(made.rows > before.length);
		const atEnd = ledger.counts.accepted;
		assert.ok(atEnd > before.length, 'the service received while it was backed up');
		await eventually(() => ledger.counts.accepted > atEnd + 100, 'further acknowledgements');
		const instances = before.filter(({ sender }) => /^(dimse|stow)-/.test(sender));
		const siteOf = ({ sender }: { sender: string }) => sites[Number(sender.split('-').at(-1))] as LedgerSite;
		const originals = await Promise.all(instances.slice(-20).map((entry) => retrieved(first, siteOf(entry), entry.key)));
		await first.end('SIGKILL');
		stop.abort();
		await sending;

		await using second = new ServiceProcess();
		const { code, stdout, stderr } = await second.cli('restore', '--from', place, '--json');
		assert.equal(code, 0, stderr);
		const restored = JSON.parse(stdout);
		assert.deepEqual([restored.cut, restored.rows], [made.cut, made.rows]);
		assert.equal(restored.check.rows_without_objects, 0);
		await second.start();

		const ids = sites.map(({ id }) => id);
		const stored = await onDatabase(databaseOf(second), (client) => storedWork(client, ids));
		const keys = new Set(before.map(({ key }) => key));
		const found = verdictOf(
			before,
			stored.filter(({ key }) => keys.has(key)),
		);
		assert.equal(faultOf(found), undefined);
		// Work that came after the cut and is there was sent by somebody, once.
		const { lost: _afterwards, ...all } = verdictOf(ledger.entries, stored);
		assert.equal(faultOf({ ...all, lost: [] }), undefined);

		// Keys work, and images are the same bytes.
		assert.ok(originals.length > 5 && originals.every(({ status }) => status === 200));
		assert.deepEqual(await Promise.all(instances.slice(-20).map((entry) => retrieved(second, siteOf(entry), entry.key))), originals);
	});
});

/** Every row of the tables, as one digest a table. What nodes and commands write of themselves is left out. */
async function digests(url: string): Promise<Record<string, string>> {
	const own = new Set([
		'access_version',
		'admin_session',
		'alert',
		'audit_batch',
		'audit_chain',
		'audit_event',
		'feed_hour',
		'search_progress',
	]);
	return onDatabase(url, async (client) => {
		const { rows } = await client.query<{ name: string }>(
			`select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
				and relname not like 'mikro%' order by 1`,
		);
		const found: Record<string, string> = {};
		for (const { name } of rows) {
			if (own.has(name)) continue;
			const [row] = (
				await client.query(
					`select count(*) || ' ' || coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '') as digest from "${name}" t`,
				)
			).rows;
			found[name] = row.digest;
		}
		return found;
	});
}

async function layoutOf(url: string): Promise<unknown[]> {
	const text = `select c.relname, pg_get_expr(c.relpartbound, c.oid), c.reloptions from pg_class c where c.relispartition and c.relkind = 'r' order by 1`;
	return onDatabase(url, async (client) => (await client.query(text)).rows);
}

async function withEmpty<T>(beside: string, use: (url: string) => Promise<T>): Promise<T> {
	const name = `restored_${randomUUID().replaceAll('-', '')}`;
	await administer(beside, `create database ${name}`);
	try {
		return await use(urlOf(beside, name));
	} finally {
		await administer(beside, `drop database ${name} with (force)`);
	}
}

describe('a backup in a bucket', () => {
	const server = new S3Server();
	let service: TestService;
	let variables: Record<string, string>;
	const to = `s3://${server.bucket}/nightly`;
	const folder = mkdtempSync(join(tmpdir(), 'tributary-restored-'));

	before(async () => {
		service = await testService({ SEGMENTED_OBJECT_BYTES_MAX: '2000', PROCESSES: '1' });
		variables = await server.variables();
		server.pageMax = 1000;
		const { key } = await service.addSite('west');
		await opened(service, 'west');
		const image = (number: number, rest: object = {}) => ({
			...{ studyUid: '1.2.3', seriesUid: '1.2.3.1', sopInstanceUid: `1.2.3.1.${number}`, modality: 'CT', patientId: 'P1' },
			...{ seriesDescription: 'back\\slash', ...rest },
		});
		// A long text makes the second one a file of its own.
		await sendImages(service.port('dimse'), 'WEST', [
			image(1),
			image(2, { studyUid: '1.2.4', seriesUid: '1.2.4.1', studyDescription: 'x'.repeat(3000) }),
			image(3),
		]);
		const body = JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Tab\there, \\N and \u00e9', given: ['\u2028'] }] });
		const headers = { 'X-API-Key': key, 'Content-Type': 'application/fhir+json' };
		const created = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/Patient`, { method: 'POST', headers, body });
		assert.equal(created.status, 201);
		await eventually(async () => (await service.rows('select from search_entry')).length > 1, 'the index of elements');
	});
	after(async () => {
		await service[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
		rmSync(folder, { recursive: true, force: true });
	});

	/** The commands on the service's database and folder, and on another database and folder. */
	const source = (t: TestContext) => terminal(t, { ...variables, DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir });
	const target = (t: TestContext, url: string, name: string) =>
		terminal(t, { ...variables, DATABASE_URL: url, DATA_DIR: join(folder, name) });
	const uploads = (pattern: RegExp) => server.requests.filter(({ method, key }) => method === 'PUT' && pattern.test(key)).length;

	test('that was cut off is no backup; the next one takes up what is there', async (t) => {
		const shell = await source(t);
		assert.match((await shell.run('backup', 'verify', '--from', to)).err, /has no finished backup/);
		server.fault = ({ key, method }) =>
			method === 'PUT' && key.endsWith('/objects.gz') ? { status: 403, code: 'AccessDenied' } : undefined;
		const { code, err } = await shell.run('backup', '--to', to);
		server.fault = () => undefined;
		assert.equal(code, 1);
		assert.match(err, /does not answer as it should/);
		assert.deepEqual(
			(await shell.json('backup', 'list', '--from', to)).map(({ state }: { state: string }) => state),
			['unfinished'],
		);
		assert.equal((await shell.run('restore', '--from', to)).code, 1);
		assert.equal(uploads(/objects\/files/), 1);

		const { code: finished, out } = await shell.run('backup', '--to', to, '--json');
		assert.equal(finished, 0);
		const made = JSON.parse(out);
		assert.deepEqual([made.objects, made.objects_missing, made.unfinished_removed], [3, 0, 1]);
		assert.equal(uploads(/objects\/files/), 1, 'the file that was there is not copied again');
		const listed = await shell.json('backup', 'list', '--from', to);
		assert.deepEqual([listed.length, listed[0].state, listed[0].cut], [1, 'finished', made.cut]);
		assert.equal((await shell.run('backup', 'verify', '--from', to)).code, 0);
		const [event] = await service.rows(`select actor, subject, source from audit_event where action = 'backup.finish'`);
		assert.deepEqual([event?.['actor'], event?.['subject']], ['backup', made.cut]);
		const door = doorTo(service.databaseUrl);
		const ages: number[] = [];
		const metrics = { backupAge: { set: (seconds: number) => ages.push(seconds) } };
		await watchBackups({ database: door.people, metrics, log: silentLog }).close();
		await door.close();
		assert.ok(ages.length === 1 && Number(ages[0]) >= 0 && Number(ages[0]) < 600, String(ages));
	});

	test('that has a flipped byte is refused by the name of the file, before anything is written', async (t) => {
		await withEmpty(service.databaseUrl, async (url) => {
			const shell = await target(t, url, 'flipped');
			const files = [...server.objects.keys()].filter((key) => /patient\.copy|objects\/files|removed|segments/.test(key));
			assert.ok(files.length >= 4, files.join(' '));
			for (const key of [...files, [...server.objects.keys()].find((each) => each.endsWith('manifest.json')) ?? '']) {
				const { bytes } = server.objects.get(key) ?? { bytes: Buffer.alloc(0) };
				const at = bytes.length >> 1;
				bytes[at] = (bytes[at] ?? 0) ^ 1;
				const { code, err } = await shell.run('restore', '--from', to);
				bytes[at] = (bytes[at] ?? 0) ^ 1;
				assert.equal(code, 1, key);
				assert.match(err, /the backup is damaged/);
				assert.ok(err.includes(key.replace('nightly/', '')), err);
			}
			assert.deepEqual(await digests(url), {});
		});
	});

	test('is restored with every row, partition and object as it was; a database that is not empty is refused', async (t) => {
		await withEmpty(service.databaseUrl, async (url) => {
			const shell = await target(t, url, 'whole');
			const { code, out, err } = await shell.run('restore', '--from', to, '--json');
			assert.equal(code, 0, err);
			const restored = JSON.parse(out);
			assert.deepEqual([restored.check.rows_without_objects, restored.check.misplaced, restored.tables_left_out], [0, 0, []]);
			assert.deepEqual(await digests(url), await digests(service.databaseUrl));
			assert.deepEqual(await layoutOf(url), await layoutOf(service.databaseUrl));
			const again = await shell.run('restore', '--from', to);
			assert.equal(again.code, 1);
			assert.match(again.err, /the database is not empty: restore into another one, or say --overwrite/);
			const { code: overwritten, err: fault } = await shell.run('restore', '--from', to, '--overwrite', '--without-verify');
			assert.equal(overwritten, 0, fault);
			assert.deepEqual(await digests(url), await digests(service.databaseUrl));
		});
	});

	test('of an earlier schema is brought up to date, one of a later schema is refused in one sentence', async (t) => {
		const names = (await migrationsIn()).map(({ name }) => name);
		await withEmpty(service.databaseUrl, async (url) => {
			const place = join(folder, 'earlier');
			await migrate(url, { only: names.slice(0, -2) });
			await onDatabase(url, (client) => client.query(`insert into site (id, slug, name) values ('${newId()}', 'old', 'Old')`));
			const early = await target(t, url, 'early');
			assert.equal((await early.run('backup', '--to', place)).code, 0);
			assert.equal((await pendingMigrations(url)).length, 2, 'the backup leaves the schema as it is');
			await withEmpty(service.databaseUrl, async (newer) => {
				const shell = await target(t, newer, 'newer');
				assert.equal((await shell.run('restore', '--from', place)).code, 0);
				assert.deepEqual(await pendingMigrations(newer), []);
				assert.deepEqual(await onDatabase(newer, async (client) => (await client.query('select slug from site')).rows), [{ slug: 'old' }]);
			});
			await onDatabase(url, (client) => client.query(`insert into mikro_orm_migrations (name, executed_at) values ('9999-later', now())`));
			assert.equal((await early.run('backup', '--to', place)).code, 0);
			await withEmpty(service.databaseUrl, async (empty) => {
				const { code, err } = await (await target(t, empty, 'later')).run('restore', '--from', place);
				assert.equal(code, 1);
				assert.match(
					err,
					/^tributary: the backup was made by a newer version of Tributary \(9\.9\.9; this one does not know 9999-later\)$/m,
				);
				assert.deepEqual(await digests(empty), {});
			});
		});
	});
});
