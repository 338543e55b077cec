import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';

/** True when /proc describes other processes, as on Linux; elsewhere ps(1) is asked. */
const hasProc = existsSync('/proc/self/stat');

/** Tells whether a process still runs. A process that has ended but was not yet waited for by its parent does not count. */
export function isRunning(pid: number): boolean {
	if (!Number.isInteger(pid) || pid <= 0) return false;
	try {
		process.kill(pid, 0);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
	}
	const [state] = statusFields(pid);
	return !hasProc || (state !== undefined && !/[ZX]/.test(state));
}

/** Returns when a process was started, in clock ticks; empty if the system does not tell. It distinguishes processes with the same id. */
export function birthOf(pid: number): string {
	return statusFields(pid)[19] ?? '';
}

/** Tells whether the process is a PostgreSQL of this cluster, by its working directory. A process that cannot be inspected is not. */
export function servesCluster(pid: number, cluster: string): boolean {
	if (!hasProc) {
		const { stdout } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
		return stdout.includes(`postgres -D ${cluster} `);
	}
	return linkOf(pid, 'cwd') === realpathSync(cluster) && /\/postgres( \(deleted\))?$/.test(linkOf(pid, 'exe'));
}

/** Returns the cluster's processes, including its postmaster, on Linux; elsewhere it finds none. */
export function clusterProcesses(cluster: string): number[] {
	if (!hasProc) return [];
	return readdirSync('/proc')
		.map(Number)
		.filter((pid) => isRunning(pid) && servesCluster(pid, cluster));
}

function linkOf(pid: number, name: 'cwd' | 'exe'): string {
	try {
		return readlinkSync(`/proc/${pid}/${name}`);
	} catch (error) {
		if (isGoneOrHidden(error)) return '';
		throw error;
	}
}

function isGoneOrHidden(error: unknown): boolean {
	return /^(ENOENT|ESRCH|EACCES|EPERM)$/.test((error as NodeJS.ErrnoException).code ?? '');
}

/** Returns the fields of proc_pid_stat(5) from the third on, which is the state. Empty when there is no such process. */
function statusFields(pid: number): string[] {
	try {
		return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
	} catch (error) {
		if (isGoneOrHidden(error)) return [];
		throw error;
	}
}
