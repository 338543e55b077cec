import { readdirSync, readFileSync } from 'node:fs';

/** A jiffy, the unit of /proc, is a hundredth of a second. */
const jiffiesPerSecond = 100;

/** Fields of /proc/<pid>/stat behind the name, which may hold spaces and parentheses: state is the first. */
export function statFields(text: string): string[] {
	return text.slice(text.lastIndexOf(') ') + 2).split(' ');
}

/** Processor time in seconds: of the process (or thread) itself, and of its children that have ended and were waited for. */
export interface ProcessorTime {
	own: number;
	ended: number;
}

/** Undefined where there is no /proc, or the process has ended. */
function timeOf(path: string): ProcessorTime | undefined {
	try {
		const [user, system, endedUser, endedSystem] = statFields(readFileSync(`${path}/stat`, 'utf8'))
			.slice(11, 15)
			.map(Number);
		return {
			own: ((user ?? 0) + (system ?? 0)) / jiffiesPerSecond,
			ended: ((endedUser ?? 0) + (endedSystem ?? 0)) / jiffiesPerSecond,
		};
	} catch {
		return undefined;
	}
}

/** Seconds of processor time that a process has used; 0 where there is no /proc, or the process has ended. */
export function cpuSecondsOf(pid: number): number {
	return timeOf(`/proc/${pid}`)?.own ?? 0;
}

function childrenOf(pid: number): number[] {
	try {
		return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
			readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
		);
	} catch {
		return [];
	}
}

/** Reads the time of a process and of its children. A test gives another one. */
export interface Processes {
	timeOf(pid: number): ProcessorTime | undefined;
	childrenOf(pid: number): readonly number[];
}

const machine: Processes = { timeOf: (pid) => timeOf(`/proc/${pid}`), childrenOf };

/**
 * Returns the processor time of a PostgreSQL server. The time of a process that ends meanwhile moves to that of its parent, so the sum
 * never shrinks: what was read while one ended is read again.
 */
export function databaseCpuSeconds(postmaster: number, { timeOf, childrenOf }: Processes = machine): number {
	for (let attempt = 0; ; attempt++) {
		const before = timeOf(postmaster);
		if (before === undefined) return 0;
		const children = childrenOf(postmaster).reduce((sum, pid) => sum + (timeOf(pid)?.own ?? 0), 0);
		if (timeOf(postmaster)?.ended === before.ended || attempt === 10) return before.own + before.ended + children;
	}
}

/** The processes of a service: the one that was started and those that it started, but not its database server. */
export function serviceProcesses(pid: number, postmaster: number, { childrenOf }: Pick<Processes, 'childrenOf'> = machine): number[] {
	const below = childrenOf(pid).filter((child) => child !== postmaster);
	return [pid, ...below.flatMap((child) => serviceProcesses(child, postmaster, { childrenOf }))];
}

/** The threads of processes with their processor time, by `<pid>/<thread>`. */
export function threadSeconds(pids: readonly number[]): Map<string, number> {
	const found = new Map<string, number>();
	for (const pid of pids) {
		try {
			for (const task of readdirSync(`/proc/${pid}/task`)) found.set(`${pid}/${task}`, timeOf(`/proc/${pid}/task/${task}`)?.own ?? 0);
		} catch {
			// The process has ended.
		}
	}
	return found;
}

/** Seconds that all cores together were busy and waited for a disk since the machine started. */
export function machineSeconds(): { busy: number; waiting: number } {
	try {
		const [user = 0, nice = 0, system = 0, , waiting = 0, irq = 0, softIrq = 0, stolen = 0] = (
			/^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? ''
		)
			.split(' ')
			.map(Number);
		return { busy: (user + nice + system + irq + softIrq + stolen) / jiffiesPerSecond, waiting: waiting / jiffiesPerSecond };
	} catch {
		return { busy: 0, waiting: 0 };
	}
}
