import type { Flag } from './flag.ts';
import type { Change } from './kinds/index.ts';

/**
 * What one message does to a site's record, as plain data. Formats write it, `record/apply` applies it to what the
 * database holds, storage writes the result. A message's changes take effect in order and all together or not at all.
 */
export interface ChangeSet {
	changes: Change[];
	flags: Flag[];
}
