import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openPool } from '#storage/database.ts';
import { emptyDatabase, testDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/eventually.ts';
import { S3Server } from '#test/support/s3-server.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { type Terminal, terminal } from '#test/support/terminal.ts';

interface Finding {
	check: string;
	state: 'ok' | 'warning' | 'fault';
	text: string;
}

async function examined(shell: Terminal): Promise<{ code: number; ok: boolean; of(check: string): Finding[]; out: string }> {
	const { code, out, err } = await shell.run('doctor', '--json');
	assert.equal(err, '');
	const { ok, checks }: { ok: boolean; checks: Finding[] } = JSON.parse(out);
	return { code, ok, of: (check) => checks.filter((each) => each.check === check), out };
}

const statesOf = (findings: readonly Finding[]) => findings.map(({ state }) => state);

describe('doctor', () => {
	test('tells of settings by which the database may lose what was acknowledged, and ends with 1', async (t) => {
		// The database of the tests does not wait for the disk.
		const shell = await terminal(t);
		const { code, ok, of } = await examined(shell);
		assert.deepEqual([code, ok], [1, false]);
		assert.match(of('database settings')[0]?.text ?? '', /^fsync is off: /);
		for (const check of ['database', 'connections', 'clock', 'migrations', 'TLS', 'variables'])
			assert.deepEqual(statesOf(of(check)), ['ok'], `${check}: ${of(check)[0]?.text}`);
		assert.deepEqual(of('limits'), [], 'the defaults leave everybody room');
		const { out } = await shell.run('doctor');
		assert.match(out, /^fault +database settings +fsync is off/m);
		assert.match(out, /^\d+ faults?, \d+ warnings?\.$/m);
	});

	test('names misspelt variables, taken ports, bad TLS files and a database too small, without any secret', async (t) => {
		const server = createServer().listen(0, '127.0.0.1');
		t.after(() => server.close());
		await new Promise((resolve) => server.once('listening', resolve));
		const address = server.address();
		assert.ok(address !== null && typeof address === 'object');
		const shell = await terminal(t, {
			...{ FHIR_PORT: String(address.port), WORKERS: '200', TLS_CERT_FILE: '/nowhere/cert.pem', TLS_KEY_FILE: '/nowhere/key.pem' },
			...{ DATABSE_URL: 'postgresql://u:hunter2@db/x', LOG_LEVLE: 'debug', AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI' },
			...{ MLLP_FRAME_BYTES_MAX: '100000000', WAITING_BYTES_MAX: '199999999' },
		});
		const { of, out } = await examined(shell);
		assert.equal(of('ports')[0]?.text, `FHIR_PORT: port ${address.port} on 127.0.0.1 is used by another program`);
		assert.match(of('TLS')[0]?.text ?? '', /^TLS_CERT_FILE: the file cannot be read \(ENOENT\)$/);
		assert.match(of('connections')[0]?.text ?? '', /needs up to \d+ connections; max_connections is .*: raise max_connections/);
		assert.match(of('variables')[0]?.text ?? '', /LOG_LEVLE \(did you mean LOG_LEVEL\?\)/);
		assert.deepEqual(of('limits'), [
			{
				check: 'limits',
				state: 'warning',
				text: 'MLLP_FRAME_BYTES_MAX (100000000) is more than half of WAITING_BYTES_MAX (199999999), so one sender can leave all others no room: set WAITING_BYTES_MAX to 400000000 or more, or lower MLLP_FRAME_BYTES_MAX',
			},
		]);
		assert.doesNotMatch(out, /hunter2|wJalrXUtnFEMI/);
	});

	test('writes, reads and deletes an object, and says when the store refuses', async (t) => {
		const shell = await terminal(t);
		mkdirSync(join(shell.dataDir, 'objects'));
		const { of } = await examined(shell);
		assert.deepEqual(of('object store'), [{ check: 'object store', state: 'ok', text: 'an object was written, read and deleted' }]);
		assert.deepEqual((await shell.json('objects', 'check')).objects_too_young, 0);
		const file = join(shell.dataDir, 'file');
		writeFileSync(file, '');
		const other = await terminal(t, { OBJECT_STORE_URL: `file:${file}` });
		assert.deepEqual(statesOf((await examined(other)).of('object store')), ['fault']);
	});

	test('tells of an embedded database beside a configured one, and of a database without tables', async (t) => {
		await using empty = await emptyDatabase();
		const shell = await terminal(t, { DATABASE_URL: empty.url });
		mkdirSync(join(shell.dataDir, 'postgres'));
		writeFileSync(join(shell.dataDir, 'postgres', 'PG_VERSION'), '18\n');
		const { of } = await examined(shell);
		assert.deepEqual(statesOf(of('embedded database')), ['warning']);
		assert.match(of('migrations')[0]?.text ?? '', /has no tables of Tributary/);
		assert.deepEqual(await tables(empty.url), []);
	});
});

describe('a start that is probably not meant', () => {
	test('is told of in the log and the start block, and a forgotten DATABASE_URL is refused', async () => {
		await using database = await testDatabase();
		const whole = String(512 * 2 ** 20);
		await using service = new ServiceProcess({
			...{ DATABASE_URL: database.url, TRUSTED_PROXIS: '1', DATABASE_URL_FIEL: '/x' },
			...{ HTTP_BODY_BYTES_MAX: whole, HTTP_WAITING_BYTES_MAX: whole, WAITING_BYTES_MAX: whole },
		});
		const cluster = join(service.dataDir, 'postgres');
		mkdirSync(cluster);
		writeFileSync(join(cluster, 'PG_VERSION'), '18\n');
		await service.start();
		for (const text of [
			/TRUSTED_PROXIS \(did you mean TRUSTED_PROXIES\?\)/,
			/DATABASE_URL_FIEL \(did you mean DATABASE_URL_FILE\?\)/,
			/has an embedded database too/,
			/HTTP_BODY_BYTES_MAX \(536870912\) is more than half of HTTP_WAITING_BYTES_MAX \(536870912\), so one sender can leave/,
			/HTTP_BODY_BYTES_MAX \(536870912\) is more than half of WAITING_BYTES_MAX \(536870912\), so one sender can leave/,
		]) {
			await eventually(() => new RegExp(`"level":"warn".*${text.source}`).test(service.output), 'the line of the log');
			assert.match(service.output, new RegExp(`^ {2}WARNING .*${text.source}`, 'm'), 'the start block');
		}
		assert.doesNotMatch(service.output, /belongs to another database/);
		await service.end('SIGTERM');
		rmSync(cluster, { recursive: true });
		const forgotten = new ServiceProcess({ DATA_DIR: service.dataDir });
		await assert.rejects(forgotten.start(), /ended with 2: tributary: DATABASE_URL: is unset, and \S+ belongs to another database/);
		assert.match((await forgotten.cli('site', 'list')).stderr, /DATABASE_URL is unset, and \S+ belongs to another database/);
		assert.ok(!existsSync(cluster), 'no embedded database was made');
		await forgotten[Symbol.asyncDispose]();
		const pool = openPool(database.url, { max: 1 });
		await pool.rows({ text: "update mikro_orm_migrations set executed_at = executed_at + interval '1 microsecond'" }, []);
		await pool.close();
		const { stdout } = await service.cli('doctor', '--json');
		const checks: Finding[] = JSON.parse(stdout).checks;
		const found = checks.find(({ check }) => check === 'data directory');
		assert.deepEqual(found?.state, 'warning');
		assert.match(found?.text ?? '', /belongs to another database, so this one would not know its objects/);
	});
});

describe('a start without its bucket', () => {
	test('serves all but images, and says so in the log and the start block', async () => {
		await using database = await testDatabase();
		await using server = new S3Server();
		await using service = new ServiceProcess({
			DATABASE_URL: database.url,
			OBJECT_STORE_URL: `s3://${server.bucket}/images`,
			...(await server.variables()),
		});
		server.fault = () => ({ status: 403, code: 'AccessDenied' });
		await service.start();
		const said = 'object store: the bucket of OBJECT_STORE_URL cannot be used: ';
		await eventually(() => new RegExp(`"level":"warn".*${said}`).test(service.output), 'the line of the log');
		assert.match(service.output, new RegExp(`^ {2}WARNING +${said}.+; images are refused until it can$`, 'm'));
		await service.end('SIGTERM');
		server.fault = () => undefined;
		await service.start();
		assert.doesNotMatch(service.output, /cannot be used/);
		await service.end('SIGTERM');
	});
});

async function tables(url: string): Promise<unknown[]> {
	const pool = openPool(url, { max: 1 });
	try {
		return await pool.rows({ text: `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace` }, []);
	} finally {
		await pool.close();
	}
}

describe('a place without a database', () => {
	test('reading commands say so, and make nothing: neither files nor tables', async (t) => {
		await using empty = await emptyDatabase();
		const elsewhere = await terminal(t, { DATABASE_URL: '' });
		const nothing = join(elsewhere.dataDir, 'wrong');
		const mistyped = await terminal(t, { DATABASE_URL: '', DATA_DIR: nothing });
		const bare = await terminal(t, { DATABASE_URL: empty.url });
		const reading = [
			['site', 'list'],
			['messages', 'list'],
			['patient', 'search', '--site', 'north', '--text', 'x'],
			['objects', 'check'],
			['doctor', '--objects'],
		];
		for (const argv of reading) {
			assert.deepEqual(
				await mistyped.run(...argv),
				{
					code: 1,
					out: '',
					err: `tributary: there is no database in ${nothing}: check DATA_DIR, or set DATABASE_URL; 'tributary start' makes a new one\n`,
				},
				argv.join(' '),
			);
			assert.match((await bare.run(...argv)).err, /^tributary: the database has no tables of Tributary: check DATABASE_URL; /);
		}
		const { code, out } = await mistyped.run('doctor');
		assert.equal(code, 1);
		assert.match(out, /^fault +database +there is no database in /m);
		assert.equal(existsSync(nothing), false);
		assert.deepEqual(await tables(empty.url), []);
	});
});

describe('doctor beside a service', () => {
	test('a sound node has no fault, and its ports answer', async () => {
		await using service = new ServiceProcess();
		await service.start();
		const { code, stdout } = await service.cli('doctor', '--json');
		const { checks }: { checks: Finding[] } = JSON.parse(stdout);
		assert.deepEqual(
			checks.filter(({ state, check }) => state === 'fault' && check !== 'disk'),
			[],
		);
		assert.equal(code, checks.some(({ state }) => state === 'fault') ? 1 : 0);
		assert.match(checks.find(({ check }) => check === 'ports')?.text ?? '', /^the service runs, and its \d+ ports answer$/);
		assert.match(checks.find(({ check }) => check === 'database settings')?.text ?? '', /are as they should be$/);
	});
});
