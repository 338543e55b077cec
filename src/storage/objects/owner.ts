import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { codeOf } from './file-system.ts';

/** The age after which a file of a host that cannot be asked has no writer any more. */
export const strangerMsMax = 86_400_000;

/** The name of a process start: `<host>-<pid>-<start>`. */
const ownerPattern = /^([0-9a-f]{16})-(\d{1,10})-[0-9a-f]{12}$/;
const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 16);

/** Returns a name for a process start, which tells whether it may still be at work. */
export function newOwner(): string {
	return `${host}-${process.pid}-${randomBytes(6).toString('hex')}`;
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return codeOf(error) !== 'ESRCH';
	}
}

/** Tells whether the process start to which something belongs may still write; `changedMs` says when it last did. */
export async function mayBeAtWork(owner: string, changedMs: () => Promise<number>, strangerMs = strangerMsMax): Promise<boolean> {
	const [, ownerHost, pid] = ownerPattern.exec(owner) ?? [];
	if (ownerHost === undefined) return true;
	// Our own process id may have belonged to another process before: a container starts with the same one every time.
	if (ownerHost === host) return Number(pid) !== process.pid && isAlive(Number(pid));
	return (await changedMs()) > Date.now() - strangerMs;
}
