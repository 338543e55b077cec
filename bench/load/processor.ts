import { readFileSync } from 'node:fs';

/** A jiffy, the unit of /proc, is a hundredth of a second. */
const jiffiesPerSecond = 100;

/** Seconds of processor time that a process has used; 0 where there is no /proc, or the process has ended. */
export function cpuSecondsOf(pid: number): number {
	try {
		const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
		return (Number(fields[11]) + Number(fields[12])) / jiffiesPerSecond;
	} catch {
		return 0;
	}
}

/** Returns the processor time of the processes that a PostgreSQL server started. */
export function databaseCpuSeconds(postmaster: number): number {
	const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ').filter(Boolean);
	return children.reduce((sum, pid) => sum + cpuSecondsOf(Number(pid)), 0);
}
