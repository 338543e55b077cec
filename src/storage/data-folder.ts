import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs';
import { UnusableSetting } from '#core/start-error.ts';

/** These permissions must be absent: all those of others, and that of the group to change something. */
const openBits = 0o027;

/** Who may write to a folder with this bit may not remove what others put there, as in /tmp: it is for all users. */
const stickyBit = 0o1000;

/**
 * Makes the data directory, which only its owner and its group may enter: it holds what patients sent. One that is open to others is closed.
 * @param gid a group that must be able to enter it, because a program of that group works below it
 * @returns the reason why it stays open to others; undefined when it does not
 * @throws UnusableSetting when it cannot be made, or closed, or is a folder for all users
 */
export function keepDataFolder(path: string, gid?: number): string | undefined {
	try {
		return closed(path, gid);
	} catch (cause) {
		if (cause instanceof UnusableSetting || !(cause instanceof Error)) throw cause;
		throw new UnusableSetting('DATA_DIR', `is ${path}, which cannot be used: ${cause.message}`, cause);
	}
}

function closed(path: string, gid: number | undefined): string | undefined {
	mkdirSync(path, { recursive: true, mode: 0o750 });
	const { mode, uid, gid: group } = statSync(path);
	if ((mode & stickyBit) !== 0)
		throw new UnusableSetting('DATA_DIR', `is ${path}, a folder that all users share (it has the sticky bit): name one below it`);
	const own = process.getuid?.();
	if (gid !== undefined && gid !== group && (mode & 0o005) !== 0) chownSync(path, uid, gid);
	if ((mode & openBits) === 0 || own === undefined) return undefined;
	if (own !== 0 && own !== uid) return `${path} is open to other users and belongs to another one: close it with chmod 750`;
	chmodSync(path, mode & 0o7750);
	return undefined;
}
