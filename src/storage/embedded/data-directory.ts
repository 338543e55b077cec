import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { socketFolder } from '../socket-folder.ts';
import { birthOf, clusterProcesses, isRunning, servesCluster } from './process-table.ts';
import type { ProgramRunner } from './system-user.ts';

/** Where the embedded database lies. */
export interface DataDirectory {
	cluster: string;
	/** Only the owner may enter it, so whoever reaches the socket is trusted. */
	socket: string;
	log: string;
	lock: string;
}

export function dataDirectory(dataDir: string): DataDirectory {
	return {
		cluster: join(dataDir, 'postgres'),
		socket: socketFolder(dataDir, 'socket'),
		log: join(dataDir, 'postgres.log'),
		lock: join(dataDir, 'database.lock'),
	};
}

/**
 * Creates a directory that belongs to the user PostgreSQL runs as.
 * @throws Error when somebody else made one in its place, which anybody may below a temporary directory
 */
export function ownDirectory(path: string, { uid, gid }: ProgramRunner): void {
	mkdirSync(path, { recursive: true });
	const found = lstatSync(path);
	if (!found.isDirectory() || ![process.getuid?.(), uid].includes(found.uid))
		throw new Error(`${path} belongs to somebody else: remove it`);
	if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
	chmodSync(path, 0o700);
}

/** A process that was killed takes a moment to be gone. */
const lastMomentsMs = 2000;

/**
 * Notes that this process uses the embedded database.
 * @throws Error when another living process does
 */
export async function takeLock(path: string): Promise<void> {
	const mine = `${process.pid} ${birthOf(process.pid)}\n`;
	for (let waited = 0; ; waited += 50) {
		try {
			writeFileSync(path, mine, { mode: 0o600, flag: 'wx' });
			return;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		}
		const holder = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
		// Empty for the moment between being made and being written.
		if (holder === '' ? waited >= lastMomentsMs : !isHeld(holder)) rmSync(path, { force: true });
		else if (waited < lastMomentsMs) await pause(50);
		else throw new Error(`the embedded database is in use by process ${holder.split(' ')[0]}: stop it first, or choose another DATA_DIR`);
	}
}

function isHeld(holder: string): boolean {
	const [pid, born = ''] = holder.split(' ');
	// Without its birth, a holder with our own process id is one of before the last boot.
	return isRunning(Number(pid)) && (born === '' ? Number(pid) !== process.pid : born === birthOf(Number(pid)));
}

export function releaseLock(path: string): void {
	rmSync(path, { force: true });
}

/**
 * After a crash of the service its PostgreSQL may still run, and after one of PostgreSQL some of its processes: they are
 * ended, so that the start is a clean one. A process of another program that was given the same id is let alone.
 */
export async function stopLeftover({ cluster, socket }: DataDirectory): Promise<void> {
	if (!existsSync(cluster)) return;
	const path = join(cluster, 'postmaster.pid');
	const pid = existsSync(path) ? Number(readFileSync(path, 'utf8').split('\n')[0]) : 0;
	for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
		if (isRunning(pid) && servesCluster(pid, cluster)) await end(pid, signal);
	}
	for (const orphan of clusterProcesses(cluster)) await end(orphan, 'SIGKILL');
	// Nothing serves here now. PostgreSQL itself would believe a lock file whose process id was given to another program.
	for (const stale of [path, join(socket, '.s.PGSQL.5432'), join(socket, '.s.PGSQL.5432.lock')]) rmSync(stale, { force: true });
}

async function end(pid: number, signal: NodeJS.Signals): Promise<void> {
	try {
		process.kill(pid, signal);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
	}
	for (let waited = 0; waited < 10_000 && isRunning(pid); waited += 25) await pause(25);
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
