import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProgramRunner } from './system-user.ts';

/** The length of a Unix socket's path is limited to about 107 bytes; the socket's own name takes some of them. */
const socketDirectoryBytesMax = 85;

/** Where the embedded database lies. */
export interface DataDirectory {
	cluster: string;
	/** Only the owner may enter it, so whoever reaches the socket is trusted. */
	socket: string;
	log: string;
	lock: string;
}

export function dataDirectory(dataDir: string): DataDirectory {
	const near = join(dataDir, 'socket');
	const far = join(tmpdir(), `tributary-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`);
	return {
		cluster: join(dataDir, 'postgres'),
		socket: Buffer.byteLength(near) <= socketDirectoryBytesMax ? near : far,
		log: join(dataDir, 'postgres.log'),
		lock: join(dataDir, 'database.lock'),
	};
}

/** Creates a directory that belongs to the user PostgreSQL runs as. */
export function ownDirectory(path: string, { uid, gid }: ProgramRunner): void {
	mkdirSync(path, { recursive: true });
	if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
	chmodSync(path, 0o700);
}

/**
 * Notes that this process uses the embedded database.
 * @throws Error when another living process does
 */
export function takeLock(path: string): void {
	const holder = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
	const [pid, born] = holder.split(' ');
	if (pid !== undefined && Number(pid) !== process.pid && isAlive(Number(pid)) && (born === undefined || born === birthOf(Number(pid)))) {
		throw new Error(`the embedded database is in use by process ${pid}: stop it first, or choose another DATA_DIR`);
	}
	writeFileSync(path, `${process.pid} ${birthOf(process.pid)}\n`, { mode: 0o600 });
}

export function releaseLock(path: string): void {
	rmSync(path, { force: true });
}

/** When a process was started, in clock ticks, where the system tells: a process id may have been given anew. */
function birthOf(pid: number): string {
	const path = `/proc/${pid}/stat`;
	if (!existsSync(path)) return '';
	return readFileSync(path, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? '';
}

function isAlive(pid: number): boolean {
	if (!Number.isInteger(pid) || pid <= 0) return false;
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'EPERM';
	}
}

/** After a crash of the service its PostgreSQL may still run: it is stopped, so that the start is a clean one. */
export async function stopLeftover(cluster: string): Promise<void> {
	const path = join(cluster, 'postmaster.pid');
	if (!existsSync(path)) return;
	const pid = Number(readFileSync(path, 'utf8').split('\n')[0]);
	if (isAlive(pid) && runsIn(pid, cluster)) {
		for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
			process.kill(pid, signal);
			for (let waited = 0; waited < 10_000 && isAlive(pid); waited += 50) await pause(50);
			if (!isAlive(pid)) break;
		}
	}
	rmSync(path, { force: true });
}

function runsIn(pid: number, cluster: string): boolean {
	if (!existsSync(`/proc/${pid}`)) return existsSync('/proc/self') === false;
	return readlinkSync(`/proc/${pid}/cwd`) === cluster;
}

/** A cluster is made beside its place and moved there whole: a start that was interrupted leaves no half of one. */
export async function makeCluster(cluster: string, runner: ProgramRunner, initialise: (into: string) => Promise<void>): Promise<void> {
	if (existsSync(join(cluster, 'PG_VERSION'))) return;
	const making = `${cluster}.new`;
	rmSync(making, { recursive: true, force: true });
	ownDirectory(making, runner);
	await initialise(making);
	rmSync(cluster, { recursive: true, force: true });
	renameSync(making, cluster);
}
