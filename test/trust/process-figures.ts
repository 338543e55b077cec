import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

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
