import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import pg from 'pg';
import { eventually } from '#test/support/eventually.ts';
import { LedgerClient, ledgerSites } from '#test/support/ledger/client.ts';
import { storedWork } from '#test/support/ledger/stored.ts';
import { faultOf, verdictOf } from '#test/support/ledger/verdict.ts';
import { needs, without } from '#test/support/needs.ts';
import { ServiceProcess } from '#test/support/service-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'tributary-recovery-'));
const wal = join(folder, 'wal');
const running: ChildProcess[] = [];

/** PostgreSQL does not run as root. */
function serverUser(): { uid: number; gid: number } | undefined {
	if (process.getuid?.() !== 0) return undefined;
	const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
	return { uid: id('-u'), gid: id('-g') };
}

function folderOf(name: string): string {
	const path = join(folder, name);
	mkdirSync(path, { recursive: true, mode: 0o700 });
	const user = serverUser();
	if (user) chownSync(path, user.uid, user.gid);
	return path;
}

const program = (name: string) => join(needs.postgresql15.found ?? '', name);
const run = (name: string, ...parameters: string[]) =>
	execFileSync(program(name), parameters, { ...serverUser(), cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });

const urlOf = (socket: string, database: string) => `postgresql://tributary@localhost/${database}?host=${encodeURIComponent(socket)}`;

async function ask<T extends pg.QueryResultRow>(url: string, text: string): Promise<T> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	try {
		return (await client.query<T>(text)).rows[0] as T;
	} finally {
		await client.end();
	}
}

/** A PostgreSQL that archives its log, as docs/operations.md says. */
async function start(data: string, socket: string, settings: Record<string, string>): Promise<ChildProcess> {
	const all = {
		...{ listen_addresses: '', unix_socket_directories: socket, shared_buffers: '64MB', max_connections: '60' },
		...{ archive_mode: 'on', archive_command: `test ! -f ${wal}/%f && cp %p ${wal}/%f`, archive_timeout: '60' },
		...settings,
	};
	const parameters = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
	const server = spawn(program('postgres'), ['-D', data, ...parameters], { ...serverUser(), cwd: folder, stdio: 'ignore' });
	running.push(server);
	const isOpen = () =>
		ask<{ busy: boolean }>(urlOf(socket, 'postgres'), 'select pg_is_in_recovery() as busy').then(
			({ busy }) => !busy,
			() => false,
		);
	await eventually(isOpen, 'PostgreSQL');
	return server;
}

async function ended(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
	if (server.exitCode !== null || server.signalCode !== null) return;
	const gone = new Promise((resolve) => server.once('exit', resolve));
	server.kill(signal);
	await gone;
}

after(async () => {
	for (const server of running) await ended(server, 'SIGQUIT');
	rmSync(folder, { recursive: true, force: true });
});

describe('recovery to any moment', { skip: without('postgresql15') }, () => {
	test('brings a PostgreSQL of the network to a moment between two backups, and the objects to it', async () => {
		chmodSync(folder, 0o755);
		const [data, socket, base, again] = ['data', 'socket', 'base', 'again'].map(folderOf) as [string, string, string, string];
		folderOf('wal');
		run('initdb', '-D', data, '-U', 'tributary', '-A', 'trust', '--encoding=UTF8', '--locale=C', '--no-sync');
		const primary = await start(data, socket, {});
		await ask(urlOf(socket, 'postgres'), 'create database tributary');
		const url = urlOf(socket, 'tributary');
		const place = join(folder, 'objects');

		await using first = new ServiceProcess({ DATABASE_URL: url });
		await first.start();
		await first.commands(['user', 'add', 'owner@example.org', '--admin']);
		const sites = await ledgerSites(url, 2);
		const ledger = new LedgerClient(sites, { port: (surface) => first.port(surface) }, ['mllp', 'fhir', 'dimse']);
		await ledger.run({ count: 15 });
		run('pg_basebackup', '-D', base, '-X', 'none', '-c', 'fast', '-h', socket, '-U', 'tributary');
		await first.commands(['backup', '--to', place, '--objects-only']);
		await ledger.run({ count: 15 });
		const before = ledger.entries.map((entry) => ({ ...entry }));
		const { at } = await ask<{ at: string }>(url, 'select clock_timestamp()::text as at');
		await ledger.run({ count: 15 });
		const [made] = await first.commands(['backup', '--to', place, '--objects-only']);
		assert.equal(made.kind, 'objects');
		await first.end('SIGKILL');
		const { name } = await ask<{ name: string }>(url, 'select pg_walfile_name(pg_switch_wal()) as name');
		const isArchived = async () => {
			const { last } = await ask<{ last: string | null }>(url, 'select last_archived_wal as last from pg_stat_archiver');
			return last !== null && last >= name;
		};
		await eventually(isArchived, 'the archive');
		await ended(primary, 'SIGQUIT');

		execFileSync('cp', ['-a', `${base}/.`, again]);
		writeFileSync(join(again, 'recovery.signal'), '');
		const user = serverUser();
		if (user) chownSync(join(again, 'recovery.signal'), user.uid, user.gid);
		const restored = { restore_command: `cp ${wal}/%f %p`, recovery_target_time: at, recovery_target_action: 'promote' };
		await start(again, socket, restored);

		await using second = new ServiceProcess({ DATABASE_URL: url });
		const { code, stdout, stderr } = await second.cli('restore', '--from', place, '--objects-only', '--json');
		assert.equal(code, 0, stderr);
		assert.equal(JSON.parse(stdout).check.rows_without_objects, 0);
		await second.start();
		const client = new pg.Client({ connectionString: url });
		await client.connect();
		const ids = sites.map(({ id }) => id);
		const stored = await storedWork(client, ids).finally(() => client.end());
		assert.equal(before.length, 6 * 30);
		assert.ok(before.filter(({ answer }) => answer === 'accepted').length > 5 * 30);
		// All that was acknowledged before the moment, once and in order, and nothing that came after it.
		assert.equal(faultOf(verdictOf(before, stored)), undefined);
		const [site] = sites;
		const uid = before.find(({ sender }) => sender === 'dimse-0')?.key ?? '';
		const studyUid = uid.slice(0, uid.lastIndexOf('.'));
		const path = `/dicomweb/studies/${studyUid}/series/${studyUid}.1/instances/${uid}`;
		const headers = { 'X-API-Key': site?.key ?? '', Accept: 'multipart/related; type="application/dicom"; transfer-syntax=*' };
		assert.equal((await fetch(`http://127.0.0.1:${second.port('fhir')}${path}`, { headers })).status, 200);
	});
});
