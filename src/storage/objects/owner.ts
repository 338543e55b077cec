import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { birthOf, isRunning } from '../embedded/process-table.ts';

/** The age after which a file of a host that cannot be asked has no writer any more. */
export const strangerMsMax = 86_400_000;

/** The name of a process start: `<host>-<pid>-<random>-<birth>`. Release 0.1.0 has no last part, and neither has a system that does not tell. */
const ownerPattern = /^([0-9a-f]{16})-(\d{1,10})-[0-9a-f]{12}(?:-(\d{1,20}))?$/;
const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 16);

/** Returns a name for a process start, which tells whether it may still be at work. */
export function newOwner(pid = process.pid): string {
	const birth = birthOf(pid);
	return `${host}-${pid}-${randomBytes(6).toString('hex')}${birth && `-${birth}`}`;
}

/** Tells whether the process start to which something belongs may still write; `changedMs` says when it last did. */
export async function mayBeAtWork(owner: string, changedMs: () => Promise<number>, strangerMs = strangerMsMax): Promise<boolean> {
	const [, ownerHost, pid, birth] = ownerPattern.exec(owner) ?? [];
	if (ownerHost === undefined) return true;
	// Our own process id may have belonged to another process before: a container starts with the same one every time.
	if (ownerHost === host) return Number(pid) !== process.pid && isRunning(Number(pid)) && isOf(Number(pid), birth);
	return (await changedMs()) > Date.now() - strangerMs;
}

/** The number of an ended process is given to another one, soon where many are started. */
function isOf(pid: number, birth: string | undefined): boolean {
	return birth === undefined || birth === birthOf(pid);
}
