import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from './file-system.ts';

/** The age after which a file of a host that cannot be asked has no writer any more. */
export const strangerMsMax = 86_400_000;

/** The name of a process start: `<host>-<pid>-<random>-<begun>`. Release 0.1.0 has no last part. */
const ownerPattern = /^([0-9a-f]{16})-(\d{1,10})-[0-9a-f]{12}(?:-([0-9a-f]{1,16}))?$/;
const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 16);

/** Returns a name for a process start, which tells whether it may still be at work. */
export function newOwner(pid = process.pid): string {
	const begun = begunAt(pid);
	return `${host}-${pid}-${randomBytes(6).toString('hex')}${begun === undefined ? '' : `-${begun}`}`;
}

/** When a process began, in ticks since the start of the machine (proc(5), `starttime` of stat); undefined where nothing tells. */
function begunAt(pid: number): string | undefined {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
		// The name of the program stands in parentheses, and may have blanks and parentheses in it.
		const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
		return ticks === undefined ? undefined : BigInt(ticks).toString(16);
	} catch {
		return undefined;
	}
}

/** The number of an ended process is given to another one, soon where many are started. */
function isAlive(pid: number, begun: string | undefined): boolean {
	try {
		process.kill(pid, 0);
	} catch (error) {
		return codeOf(error) !== 'ESRCH';
	}
	const now = begunAt(pid);
	return begun === undefined || now === undefined || now === begun;
}

/** Tells whether the process start to which something belongs may still write; `changedMs` says when it last did. */
export async function mayBeAtWork(owner: string, changedMs: () => Promise<number>, strangerMs = strangerMsMax): Promise<boolean> {
	const [, ownerHost, pid, begun] = ownerPattern.exec(owner) ?? [];
	if (ownerHost === undefined) return true;
	// Our own process id may have belonged to another process before: a container starts with the same one every time.
	if (ownerHost === host) return Number(pid) !== process.pid && isAlive(Number(pid), begun);
	return (await changedMs()) > Date.now() - strangerMs;
}
