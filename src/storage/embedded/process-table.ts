import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';

/** What the system tells of other processes. Linux tells by /proc; elsewhere ps(1) is asked. */
const hasProc = existsSync('/proc/self/stat');

/** Whether a process still runs. One that has ended and was not yet waited for by its parent holds nothing any more. */
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

/** When a process was started, in clock ticks; empty where the system does not tell. A process id may have been given anew. */
export function birthOf(pid: number): string {
	return statusFields(pid)[19] ?? '';
}

/** Whether the process is a PostgreSQL of this cluster; it works in that directory. One that hides from us is not. */
export function servesCluster(pid: number, cluster: string): boolean {
	if (!hasProc) {
		const { stdout } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
		return stdout.includes(`postgres -D ${cluster} `);
	}
	return linkOf(pid, 'cwd') === realpathSync(cluster) && /\/postgres( \(deleted\))?$/.test(linkOf(pid, 'exe'));
}

/** The cluster's processes, its postmaster among them, on Linux; elsewhere none is found. */
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

/** proc_pid_stat(5) from its third field on: the state first. Empty when there is no such process. */
function statusFields(pid: number): string[] {
	try {
		return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
	} catch (error) {
		if (isGoneOrHidden(error)) return [];
		throw error;
	}
}
