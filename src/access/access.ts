import { openNodeProcess } from '#storage/node-processes.ts';
import { type DatabaseDirectory, type DirectoryOptions, openDirectory } from './database-directory.ts';
import type { AccessLimits } from './limits.ts';

export interface AccessOptions extends Omit<DirectoryOptions, 'staleMsMax'> {
	dataDir: string;
	limits: AccessLimits;
	/** Whether reads are answered by a replica, which may be there while the database is away. */
	hasReplica: boolean;
}

/** Who may call, as this process knows it, and whoever has to hear that it was changed. */
export interface Access {
	directory: DatabaseDirectory;
	/** Has the processes of this node take over what was committed; names those that did not confirm it. Never rejects. */
	accessChanged(): Promise<readonly string[]>;
}

/** @throws Error when the database cannot be read at the start */
export async function openAccess(options: AccessOptions, onClose: (close: () => Promise<void>) => void): Promise<Access> {
	const { dataDir, limits, hasReplica, log } = options;
	const staleMsMax = hasReplica ? limits.accessStaleReplicaMsMax : limits.accessStaleMsMax;
	const directory = await openDirectory({ ...options, staleMsMax });
	onClose(() => directory.close());
	const own = await openNodeProcess({ dataDir, refresh: () => directory.refresh(), waitMsMax: limits.accessConfirmMsMax, log });
	onClose(() => own.close());
	return { directory, accessChanged: () => own.confirmed() };
}
