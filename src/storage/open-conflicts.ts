import type { Log } from '#core/log.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { StorageMetrics } from './metrics.ts';
import { countOpenConflicts } from './statements/administrative/read-conflicts.ts';

/** How old the gauge may be; alerts on it look at a whole day. */
const countMs = 15_000;

/** Keeps the gauge of open conflicts current. The first count is made when it resolves. */
export async function watchOpenConflicts(options: {
	database: ConnectionPool;
	metrics: StorageMetrics;
	log: Log;
}): Promise<{ close(): Promise<void> }> {
	const { database, metrics, log } = options;
	const count = async () => {
		try {
			for (const { site, open } of await database.rows<{ site: string; open: number }>(countOpenConflicts, []))
				metrics.openConflicts.set({ site }, open);
		} catch (error) {
			// The gauge keeps its last value. Another metric shows that the database is away.
			log.debug({ err: error }, 'open conflicts could not be counted');
		}
	};
	let counting = count();
	await counting;
	let closed = false;
	const again = () => {
		if (closed) return;
		counting = count();
		void counting.then(schedule);
	};
	let timer: NodeJS.Timeout;
	const schedule = () => {
		timer = setTimeout(again, countMs).unref();
	};
	schedule();
	return {
		async close() {
			closed = true;
			clearTimeout(timer);
			await counting;
		},
	};
}
