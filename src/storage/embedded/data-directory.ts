import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StartError } from '#core/start-error.ts';
import { socketFolder } from '../socket-folder.ts';
import { birthOf, clusterProcesses, isRunning, servesCluster } from './process-table.ts';
import type { ProgramRunner } from './system-user.ts';

/** The paths of the embedded database. */
export interface DataDirectory {
	cluster: string;
	/** Only the owner may enter this directory, so every client of the socket is trusted. */
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

/** Tells if the data directory has an embedded database. */
export function hasCluster(dataDir: string): boolean {
	return existsSync(join(dataDirectory(dataDir).cluster, 'PG_VERSION'));
}

/**
 * Creates a directory that belongs to the user that runs PostgreSQL.
 * @throws Error when somebody else made one in its place, which anybody may do below a temporary directory
 */
export function ownDirectory(path: string, { uid, gid }: ProgramRunner): void {
	mkdirSync(path, { recursive: true });
	const found = lstatSync(path);
	if (!found.isDirectory() || ![process.getuid?.(), uid].includes(found.uid))
		throw new Error(`${path} belongs to somebody else: remove it`);
	if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
	chmodSync(path, 0o700);
}

/** The time that a killed process may take to disappear. */
const lastMomentsMs = 2000;

/**
 * Notes in a file that this process uses `what`.
 * @throws StartError when another living process does
 */
export async function takeLock(path: string, what: string): Promise<void> {
	const mine = `${process.pid} ${birthOf(process.pid)}\n`;
	for (let waited = 0; ; waited += 50) {
		try {
			writeFileSync(path, mine, { mode: 0o600, flag: 'wx' });
			return;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		}
		const holder = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
		// The file is empty for a moment between its creation and its first write.
		if (holder === '' ? waited >= lastMomentsMs : !isHeld(holder)) rmSync(path, { force: true });
		else if (waited < lastMomentsMs) await pause(50);
		else throw new StartError(`${what} is in use by process ${holder.split(' ')[0]}: stop it first, or choose another DATA_DIR`);
	}
}

function isHeld(holder: string): boolean {
	const [pid, born = ''] = holder.split(' ');
	// If the birth is unknown, a holder with our own process id dates from before the last boot.
	return isRunning(Number(pid)) && (born === '' ? Number(pid) !== process.pid : born === birthOf(Number(pid)));
}

export function releaseLock(path: string): void {
	rmSync(path, { force: true });
}

/**
 * Ends leftover processes, so that the start is clean. After a crash of the service its PostgreSQL may still run, and after a crash of
 * PostgreSQL some of its processes. A process of another program that was given the same id is left alone.
 */
export async function stopLeftover({ cluster, socket }: DataDirectory): Promise<void> {
	if (!existsSync(cluster)) return;
	const path = join(cluster, 'postmaster.pid');
	const pid = existsSync(path) ? Number(readFileSync(path, 'utf8').split('\n')[0]) : 0;
	for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
		if (isRunning(pid) && servesCluster(pid, cluster)) await end(pid, signal);
	}
	for (const orphan of clusterProcesses(cluster)) await end(orphan, 'SIGKILL');
	// Nothing serves here now. PostgreSQL itself would trust a lock file whose process id was given to another program.
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

/** Makes a cluster beside its place and moves it there when it is complete, so an interrupted start leaves no incomplete one. */
export async function makeCluster(cluster: string, runner: ProgramRunner, initialise: (into: string) => Promise<void>): Promise<void> {
	if (existsSync(join(cluster, 'PG_VERSION'))) return;
	const making = `${cluster}.new`;
	rmSync(making, { recursive: true, force: true });
	ownDirectory(making, runner);
	await initialise(making);
	rmSync(cluster, { recursive: true, force: true });
	renameSync(making, cluster);
}
