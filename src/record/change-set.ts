import type { Flag } from './flag.ts';
import type { Change } from './kinds/index.ts';
import type { Settings } from './settings/settings.ts';

/**
 * The effect of one message on a site's record, as plain data. Formats produce it, `record/apply` applies it to the data of the database,
 * storage writes the result. A message's changes take effect in order, and all together or not at all.
 */
export interface ChangeSet {
	changes: Change[];
	flags: Flag[];
	/** The settings by which a message was read, for its entry in the log; absent when none applied. */
	readBy?: Settings;
}
