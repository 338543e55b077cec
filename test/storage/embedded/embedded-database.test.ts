import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
	chmodSync,
	lchownSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { startEmbeddedDatabase } from '#storage/embedded/embedded-database.ts';

const settings = { shared_buffers: '32MB' };
const isRoot = process.getuid?.() === 0;

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	try {
		return (await client.query(text)).rows;
	} finally {
		await client.end();
	}
}

function runs(pid: number): boolean {
	try {
		process.kill(pid, 0);
	} catch {
		return false;
	}
	return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
}

/** A service that has the database open until it is killed. */
async function serviceOn(dataDir: string): Promise<{ service: ChildProcess; pid: number; url: string }> {
	const file = pathToFileURL(join(import.meta.dirname, '../../../src/storage/embedded/embedded-database.ts')).href;
	const script = `const { startEmbeddedDatabase } = await import(${JSON.stringify(file)});
		const { pid, url } = await startEmbeddedDatabase({ dataDir: ${JSON.stringify(dataDir)}, settings: ${JSON.stringify(settings)} });
		console.log(JSON.stringify({ pid, url }));
		setInterval(() => {}, 1000);`;
	const service = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
	const [line] = (await once(service.stdout as NonNullable<typeof service.stdout>, 'data')) as [Buffer];
	return { service, ...(JSON.parse(line.toString()) as { pid: number; url: string }) };
}

async function kill(service: ChildProcess): Promise<void> {
	const gone = once(service, 'exit');
	service.kill('SIGKILL');
	await gone;
}

function tree(directory: string): string[] {
	return [directory, ...readdirSync(directory, { recursive: true }).map((name) => join(directory, String(name)))];
}

describe('the embedded database', { skip: process.platform !== 'linux' && 'reads /proc' }, () => {
	let root: string;
	let dataDir: string;
	const start = (directory = dataDir) => startEmbeddedDatabase({ dataDir: directory, settings });

	before(async () => {
		root = mkdtempSync(join(tmpdir(), 'tributary-embedded-'));
		chmodSync(root, 0o755);
		dataDir = join(root, 'a directory with spaces');
		// Half of what a first start makes, as when it was interrupted.
		mkdirSync(join(dataDir, 'postgres.new/base'), { recursive: true });
		writeFileSync(join(dataDir, 'postgres.new/PG_VERSION'), '18\n');
		const database = await start();
		await query(database.url, 'create table kept (number int)');
		await database.stop();
	});
	after(() => rmSync(root, { recursive: true, force: true }));

	test('is UTF-8, folds case beyond ASCII, flushes commits to disk and keeps them', async () => {
		const database = await start();
		const [found] = await query(
			database.url,
			`select lower('Ë') as folded, current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
				current_setting('synchronous_commit') as commits, current_setting('listen_addresses') as addresses,
				(select count(*)::int from kept) as rows`,
		);
		assert.deepEqual(found, { folded: 'ë', encoding: 'UTF8', fsync: 'on', commits: 'on', addresses: '', rows: 0 });
		await database.stop();
		assert.equal(runs(database.pid), false);
	});

	test('lets nobody but its user reach the socket', async () => {
		const database = await start();
		assert.equal(statSync(join(dataDir, 'socket')).mode & 0o777, 0o700);
		await database.stop();
	});

	test('is refused to a second service in one sentence, within the same process too', async () => {
		const { service } = await serviceOn(dataDir);
		await assert.rejects(start(), {
			message: `the embedded database is in use by process ${service.pid}: stop it first, or choose another DATA_DIR`,
		});
		await kill(service);
		const database = await start();
		await assert.rejects(start(), /in use by process/);
		await database.stop();
	});

	test('is stopped and started anew after its service was killed, at once, through a symbolic link too', async () => {
		const link = join(root, 'link');
		symlinkSync(dataDir, link);
		for (const directory of [dataDir, link]) {
			const left = await serviceOn(directory);
			await query(left.url, 'insert into kept values (1)');
			await kill(left.service);
			assert.equal(runs(left.pid), true, 'PostgreSQL outlives a killed service');
			const database = await start(directory);
			assert.equal(runs(left.pid), false);
			assert.notEqual(database.pid, left.pid);
			await database.stop();
		}
		const database = await start();
		assert.deepEqual(await query(database.url, 'select count(*)::int as rows from kept'), [{ rows: 2 }]);
		await database.stop();
	});

	test('starts after the service and PostgreSQL were killed while a statement ran', async () => {
		const left = await serviceOn(dataDir);
		const client = new pg.Client({ connectionString: left.url });
		await client.connect();
		client.on('error', () => {});
		const [backend] = (await client.query('select pg_backend_pid() as pid')).rows as { pid: number }[];
		const busy = client.query('select count(*) from generate_series(1, 1000000000)').catch(() => 'lost');
		// The service first: it would start PostgreSQL again.
		left.service.kill('SIGSTOP');
		process.kill(left.pid, 'SIGKILL');
		await kill(left.service);
		assert.equal(runs(backend?.pid ?? 0), true, 'a busy process outlives the postmaster');
		const database = await start();
		assert.equal(runs(backend?.pid ?? 0), false);
		assert.equal(await busy, 'lost');
		await database.stop();
	});

	test('believes no lock file whose process id belongs to another program, and leaves that one alone', async () => {
		const other = spawn('sleep', ['60']);
		for (const name of ['postgres/postmaster.pid', 'socket/.s.PGSQL.5432.lock', 'database.lock'])
			writeFileSync(join(dataDir, name), `${other.pid} 1\n`);
		const database = await start();
		await database.stop();
		// Process 1 belongs to somebody else unless we are root, and hides its directory then.
		writeFileSync(join(dataDir, 'postgres/postmaster.pid'), '1\n');
		await (await start()).stop();
		assert.equal(runs(other.pid ?? 0), true);
		other.kill();
	});

	test('has its socket elsewhere when the path is too long for one', async () => {
		const deep = join(root, 'x'.repeat(100));
		mkdirSync(deep);
		const database = await start(deep);
		const socket = new URL(database.url).searchParams.get('host') ?? '';
		assert.ok(socket.startsWith(join(tmpdir(), 'tributary-')), socket);
		assert.deepEqual(await query(database.url, 'select 1 as one'), [{ one: 1 }]);
		await database.stop();
		rmSync(socket, { recursive: true });
		symlinkSync(root, socket);
		await assert.rejects(start(deep), /belongs to somebody else/);
		rmSync(socket);
	});

	test('says in one sentence why PostgreSQL does not start, and does so again once it can', async () => {
		await assert.rejects(
			startEmbeddedDatabase({ dataDir, settings: { shared_buffers: 'plenty' } }),
			/^Error: PostgreSQL ended while starting; see .*FATAL: .*shared_buffers/,
		);
		await (await start()).stop();
	});

	test('goes on as the user who made it when root starts it later', { skip: !isRoot && 'needs root' }, async () => {
		const uid = 61_234;
		const { gid } = statSync(join(dataDir, 'postgres'));
		for (const part of ['postgres', 'socket']) for (const path of tree(join(dataDir, part))) lchownSync(path, uid, gid);
		const database = await start();
		assert.match(readFileSync(`/proc/${database.pid}/status`, 'utf8'), new RegExp(`^Uid:\\t${uid}\\t`, 'm'));
		await database.stop();
	});

	test('runs below a directory that only root may enter', { skip: !isRoot && 'needs root' }, async () => {
		chmodSync(root, 0o700);
		try {
			const database = await start();
			assert.deepEqual(await query(database.url, 'select 1 as one'), [{ one: 1 }]);
			await database.stop();
		} finally {
			chmodSync(root, 0o755);
		}
	});
});
