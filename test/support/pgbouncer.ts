import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { programRunner } from '#storage/embedded/system-user.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

/** A PgBouncer before the server of a URL, on a loopback port. */
export interface Pooler extends AsyncDisposable {
	/** Leads to the same database, with a value of `pooling` or without. */
	url(pooling?: string): string;
}

/** PgBouncer refuses to run as root, and only the user of the server reaches its socket. */
function started(program: string, path: string, socket: string): ChildProcess {
	const runner = programRunner(join(dirname(socket), 'postgres'), [socket]);
	return runner.run(program, ['-q', path], { stdio: 'ignore', cwd: dirname(path) });
}

/** Tells whether the program can keep prepared statements for clients whose transactions come to different sessions. */
export function keepsStatements(program: string): boolean {
	const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout) ?? [];
	return Number(major) > 1 || Number(minor) >= 21;
}

/** @param settings further lines of pgbouncer.ini */
export async function pgbouncer(program: string, databaseUrl: string, settings: readonly string[] = []): Promise<Pooler> {
	const folder = mkdtempSync(join(tmpdir(), 'tributary-pgbouncer-'));
	chmodSync(folder, 0o755);
	const behind = new URL(databaseUrl);
	const host = behind.searchParams.get('host') ?? behind.hostname;
	const port = await freePort();
	const path = join(folder, 'pgbouncer.ini');
	const lines = [
		'[databases]',
		`* = host=${host} user=${behind.username}`,
		'[pgbouncer]',
		...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any', 'pool_mode = transaction'],
		...['default_pool_size = 20', 'max_client_conn = 200', ...settings],
	];
	writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o644 });
	const child = started(program, path, host);
	await eventually(() => takesCalls(child, port), 'PgBouncer answers');
	return {
		url: (pooling) => {
			const name = behind.pathname.slice(1);
			return `postgresql://${behind.username}@127.0.0.1:${port}/${name}${pooling === undefined ? '' : `?pooling=${pooling}`}`;
		},
		[Symbol.asyncDispose]: async () => {
			const ended = once(child, 'exit');
			child.kill('SIGKILL');
			await ended;
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

async function takesCalls(child: ChildProcess, port: number): Promise<boolean> {
	if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`);
	const socket = connect(port, '127.0.0.1');
	try {
		await once(socket, 'connect');
		return true;
	} catch {
		return false;
	} finally {
		socket.destroy();
	}
}
