import { setTimeout as pause } from 'node:timers/promises';
import { readRuntimeFile } from '#storage/runtime-file.ts';

/** A process may take so long to start on a slow machine, beside DRAIN_MS_MAX for the one before it. */
const startMsMax = 60_000;
const lookMs = 100;

/**
 * Has the running service replace its processes, and waits until it has.
 * @throws Error when there is nothing to replace, or when it takes too long
 */
export async function rolled(dataDir: string, drainMsMax: number): Promise<void> {
	const before = readRuntimeFile(dataDir);
	if (before === undefined) throw new Error(`no service is running on ${dataDir}`);
	const { pid, processes } = before;
	if (processes === undefined) throw new Error('the service has one process: restart it, or run it with PROCESSES=2 or more');
	process.kill(pid, 'SIGHUP');
	for (let waitedMs = 0; waitedMs < processes.length * (startMsMax + drainMsMax); waitedMs += lookMs) {
		const now = readRuntimeFile(dataDir);
		if (now === undefined) throw new Error('the service ended');
		if (!now.processes?.some((each) => processes.includes(each))) return;
		await pause(lookMs);
	}
	throw new Error('not every process could be replaced; the log of the service says why');
}
