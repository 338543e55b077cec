import type { Log } from '#core/log.ts';
import type { StatementRunner } from './connection.ts';
import type { Statement } from './statement.ts';

/** Returns how many partitions were missing. The function is defined in migration `monthly-partitions`. */
const ensurePartitions: Statement = { name: 'ensure_month_partitions', text: 'select ensure_month_partitions()' };

/** Partitions are made months ahead, so how often is of no consequence. */
const everyMs = 3_600_000;

/**
 * Makes the monthly partitions of the coming months, at the start and every hour. A missing partition loses nothing, because its rows go to
 * the default partition. So a failure is logged and tried again, and nobody waits for it.
 */
export function keepPartitions({ database, log }: { database: StatementRunner; log: Log }): { close(): Promise<void> } {
	let last = Promise.resolve();
	const ensure = () => {
		last = database.run(ensurePartitions, []).then(
			([row]) => {
				if (row?.[0] !== '0') log.info({ partitions: Number(row?.[0]) }, 'monthly partitions were made');
			},
			(error: unknown) => log.warn({ err: error }, 'monthly partitions could not be made; tried again in an hour'),
		);
	};
	ensure();
	const timer = setInterval(ensure, everyMs).unref();
	return {
		async close() {
			clearInterval(timer);
			await last;
		},
	};
}
