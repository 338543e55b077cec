import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readRuntimeFile } from '#storage/runtime-file.ts';

/** The processes of a service that runs on this directory: those that do its work, in the order of their places, and the parent of several. */
export function processesOf(dataDir: string): { members: readonly number[]; parent: number | undefined } {
	const runtime = readRuntimeFile(dataDir);
	if (runtime === undefined) return { members: [], parent: undefined };
	const { pid, processes } = runtime;
	return processes === undefined ? { members: [pid], parent: undefined } : { members: processes, parent: pid };
}

/** Undefined for a descriptor that was closed meanwhile. */
function targetOf(path: string): string | undefined {
	try {
		return readlinkSync(path);
	} catch {
		return undefined;
	}
}

export function openTargets(pid: number): string[] {
	return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => targetOf(`/proc/${pid}/fd/${descriptor}`) ?? []);
}

/** Resident megabytes now, and the most that there were. */
export function residentOf(pid: number): { now: number; highest: number } {
	const text = readFileSync(`/proc/${pid}/status`, 'utf8');
	const of = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1024);
	return { now: of('VmRSS'), highest: of('VmHWM') };
}

/** Open descriptors of processes, by what they are. */
export interface Descriptors {
	sockets: number;
	files: number;
	others: number;
}

export function descriptorsOf(pids: readonly number[]): Descriptors {
	const counts = { sockets: 0, files: 0, others: 0 };
	for (const target of pids.flatMap(openTargets))
		counts[target.startsWith('socket:') ? 'sockets' : target.startsWith('/') ? 'files' : 'others']++;
	return counts;
}
