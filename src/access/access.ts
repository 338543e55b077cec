import { openNodeProcess } from '#storage/node-processes.ts';
import { type DatabaseDirectory, type DirectoryOptions, openDirectory } from './database-directory.ts';
import type { AccessLimits } from './limits.ts';
import { Tokens, type TokensOptions } from './tokens/tokens.ts';

export interface AccessOptions extends Omit<DirectoryOptions, 'staleMsMax'>, Pick<TokensOptions, 'targets' | 'trace'> {
	dataDir: string;
	limits: AccessLimits;
	/** True if a replica answers reads; it may be there while the database is away. */
	hasReplica: boolean;
}

/** The access tables as this process knows them, and the processes that must hear of a change. */
export interface Access {
	directory: DatabaseDirectory;
	/** Access tokens of OIDC providers. */
	tokens: Tokens;
	/** Has the processes of this node take over what was committed; names those that did not confirm it. Never rejects. */
	accessChanged(): Promise<readonly string[]>;
}

/** @throws Error when the database cannot be read at the start */
export async function openAccess(options: AccessOptions, onClose: (close: () => Promise<void>) => void): Promise<Access> {
	const { dataDir, limits, targets, trace, hasReplica, log } = options;
	const staleMsMax = hasReplica ? limits.accessStaleReplicaMsMax : limits.accessStaleMsMax;
	const directory = await openDirectory({ ...options, staleMsMax });
	onClose(() => directory.close());
	const own = await openNodeProcess({ dataDir, refresh: () => directory.refresh(), waitMsMax: limits.accessConfirmMsMax, log });
	onClose(() => own.close());
	const tokens = new Tokens({ directory, limits, targets, trace, log, clock: options.clock });
	return { directory, tokens, accessChanged: () => own.confirmed() };
}
