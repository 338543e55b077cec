import { availableParallelism } from 'node:os';
import { databaseCpuSeconds, machineSeconds, serviceProcesses, threadSeconds } from './processor.ts';

/** The processor time that a load used, in cores (1: one core the whole time). */
export interface Usage {
	driver: number;
	/** The main thread of the service that used most, all main threads, and all other threads. */
	busiestMain: number;
	main: number;
	others: number;
	/** The busiest thread that is no main thread. */
	busiestOther: number;
	database: number;
	/** All processes of the machine, and how long cores stood still for a disk. */
	machine: number;
	waiting: number;
}

export interface Observed {
	pid: number;
	databasePid: number;
}

/** Reads clocks now; the returned function reads them again and tells what was used between. `driver` is the driver's share of a core. */
export function observe({ pid, databasePid }: Observed): (driver: number) => Usage {
	const pids = serviceProcesses(pid, databasePid);
	const read = () => ({
		atMs: performance.now(),
		threads: threadSeconds(pids),
		database: databaseCpuSeconds(databasePid),
		machine: machineSeconds(),
	});
	const before = read();
	return (driver) => {
		const after = read();
		const seconds = (after.atMs - before.atMs) / 1000;
		const used = [...after.threads].map(([name, spent]) => ({
			isMain: name.split('/')[0] === name.split('/')[1],
			cores: (spent - (before.threads.get(name) ?? 0)) / seconds,
		}));
		const of = (isMain: boolean) => used.filter((thread) => thread.isMain === isMain).map(({ cores }) => cores);
		const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
		return {
			driver,
			busiestMain: Math.max(0, ...of(true)),
			main: sum(of(true)),
			others: sum(of(false)),
			busiestOther: Math.max(0, ...of(false)),
			database: (after.database - before.database) / seconds,
			machine: (after.machine.busy - before.machine.busy) / seconds,
			waiting: (after.machine.waiting - before.machine.waiting) / seconds,
		};
	};
}

/** A thread that is at work nine tenths of the time is the limit; so are all cores together. */
const full = 0.9;

/** Names what kept a closed loop from being faster, by the shares of cores. */
export function saturatedBy(usage: Usage, cores: number = availableParallelism()): string {
	if (usage.driver >= full) return 'the driver';
	if (usage.busiestMain >= full) return 'the main thread';
	if (usage.busiestOther >= full) return 'a worker thread';
	if (usage.machine >= full * cores) return `all ${cores} cores`;
	if (usage.waiting >= 0.25) return 'the disk';
	return 'round trips';
}
