import { readFileSync, readlinkSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';

/** Returns the number that Linux gives the calling thread. Elsewhere it has none, and this is 0. */
export function osThread(): number {
	try {
		return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
	} catch {
		return 0;
	}
}

/**
 * Returns the processor time of a thread of this process, which Linux counts in hundredths of a second. Elsewhere the busy time of the event loops of
 * `threads` stands in, which also counts time that the processor gave to others.
 */
export function threadCpuMs(osThread: number, threads: readonly Worker[]): number {
	return toldCpuMs(osThread) ?? threads.reduce((busy, { performance }) => busy + performance.eventLoopUtilization().active, 0);
}

function toldCpuMs(osThread: number): number | undefined {
	if (osThread === 0) return undefined;
	try {
		const stat = readFileSync(`/proc/self/task/${osThread}/stat`, 'latin1');
		// The name of the thread may hold spaces; it ends with the last bracket.
		const [user, system] = stat
			.slice(stat.lastIndexOf(')') + 2)
			.split(' ')
			.slice(11, 13);
		return (Number(user) + Number(system)) * 10;
	} catch {
		return undefined;
	}
}
