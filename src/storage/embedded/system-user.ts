import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { keepDataFolder } from '../data-folder.ts';

/** Runs PostgreSQL's programs as ourselves. PostgreSQL refuses to run as root, so root runs them as a system user. */
export interface ProgramRunner {
	readonly uid: number | undefined;
	readonly gid: number | undefined;
	run(program: string, parameters: readonly string[], options: SpawnOptions): ChildProcess;
}

const setpriv = '/usr/bin/setpriv';
/** Capabilities by which the system user reaches a directory below one that only root may enter, such as /root. */
const reach = '+dac_override,+dac_read_search';

/**
 * @param cluster the data directory, whose owner this user must be once it exists
 * @param paths other paths that the user must reach
 * @throws Error with one readable sentence when no system user can reach the paths
 */
export function programRunner(cluster: string, paths: readonly string[]): ProgramRunner {
	if (process.getuid?.() !== 0) {
		return { uid: undefined, gid: undefined, run: (program, parameters, options) => spawn(program, parameters, options) };
	}
	const user = ownerOf(cluster) ?? systemUser();
	keepDataFolder(dirname(cluster), user.gid);
	if ([cluster, ...paths].every((path) => isReachable(path, user.gid))) {
		return { ...user, run: (program, parameters, options) => spawn(program, parameters, { ...options, uid: user.uid, gid: user.gid }) };
	}
	if (!existsSync(setpriv)) {
		throw new Error(
			'PostgreSQL does not run as root, and its system user cannot enter this directory: choose another DATA_DIR, run as a normal user, or set DATABASE_URL',
		);
	}
	// Without this securebit access(2) would not count the capabilities. initdb uses access(2) to look for its neighbours.
	const capabilities = [`--inh-caps=${reach}`, `--ambient-caps=${reach}`, '--securebits=+no_setuid_fixup'];
	const identity = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', ...capabilities];
	return { ...user, run: (program, parameters, options) => spawn(setpriv, [...identity, '--', program, ...parameters], options) };
}

/** Returns the owner of the cluster. PostgreSQL opens only a cluster of its own user, so one made by a normal user keeps that user. */
function ownerOf(cluster: string): { uid: number; gid: number } | undefined {
	const found = statSync(cluster, { throwIfNoEntry: false });
	return found === undefined || found.uid === 0 ? undefined : { uid: found.uid, gid: found.gid };
}

function systemUser(): { uid: number; gid: number } {
	const users = readFileSync('/etc/passwd', 'utf8')
		.split('\n')
		.map((line) => line.split(':'));
	const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
	if (user === undefined)
		throw new Error('PostgreSQL does not run as root and there is no system user postgres or nobody: set DATABASE_URL');
	return { uid: Number(user[2]), gid: Number(user[3]) };
}

/** Tells whether everybody, or the group, may enter every directory above the path. */
function isReachable(path: string, group: number): boolean {
	for (let directory = dirname(path); ; directory = dirname(directory)) {
		const found = statSync(directory, { throwIfNoEntry: false });
		if (found !== undefined && (found.mode & (found.gid === group ? 0o010 : 0o001)) === 0) return false;
		if (directory === dirname(directory)) return true;
	}
}
