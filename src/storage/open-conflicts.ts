import type { Log } from '#core/log.ts';
import { type Watch, watch } from '#core/watch.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { StorageMetrics } from './metrics.ts';
import { countOpenConflicts } from './statements/administrative/read-conflicts.ts';

/** How old the gauge may be; alerts on it look at a whole day. */
const countMs = 15_000;

/** Keeps the gauge of open conflicts current. The first count is made when it resolves. */
export async function watchOpenConflicts(options: { database: ConnectionPool; metrics: StorageMetrics; log: Log }): Promise<Watch> {
	const { database, metrics, log } = options;
	const look = async () => {
		for (const { site, open } of await database.rows<{ site: string; open: number }>(countOpenConflicts, []))
			metrics.openConflicts.set({ site }, open);
	};
	const watched = watch({ everyMs: countMs, look, failure: 'open conflicts could not be counted', log });
	await watched.first;
	return watched;
}
