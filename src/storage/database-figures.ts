import type { Log } from '#core/log.ts';
import { moveStates } from '#core/move-states.ts';
import { type Watch, watch } from '#core/watch.ts';
import type { StatementRunner } from './connection.ts';
import type { StorageMetrics } from './metrics.ts';
import { readDatabaseFigures } from './statements/administrative/database-figures.ts';
import { readSiteMoves } from './statements/administrative/sites.ts';

/** Alerts on these figures look at minutes. */
const lookMs = 15_000;

type FigureMetrics = Pick<
	StorageMetrics,
	| 'databaseWal'
	| 'databaseArchiveFailures'
	| 'databaseArchiveFailing'
	| 'databaseLongestTransaction'
	| 'databaseDeadRows'
	| 'databaseStandbys'
	| 'databaseStandbyLag'
	| 'databaseSlotWal'
	| 'movingSites'
	| 'closedSites'
>;

/** Keeps the metrics of the database server current. One process of a node looks for all. */
export function watchDatabase(options: { database: StatementRunner; metrics: FigureMetrics; log: Log }): Watch {
	const { database, metrics, log } = options;
	let before: { wal: number; failures: number } | undefined;
	const look = async () => {
		const [row = []] = await database.run(readDatabaseFigures, []);
		const [wal = 0, failures = 0, failing = 0, longest = 0, dead = 0, standbys = 0, lag = 0, heldBack = 0] = row.map(Number);
		// After a failover or a restore the numbers may be smaller.
		metrics.databaseWal.inc(Math.max(0, wal - (before?.wal ?? wal)));
		metrics.databaseArchiveFailures.inc(Math.max(0, failures - (before?.failures ?? failures)));
		metrics.databaseArchiveFailing.set(failing);
		metrics.databaseLongestTransaction.set(longest);
		metrics.databaseDeadRows.set(dead);
		metrics.databaseStandbys.set(standbys);
		metrics.databaseStandbyLag.set(lag);
		metrics.databaseSlotWal.set(heldBack);
		before = { wal, failures };
		await lookForMoves(database, metrics);
	};
	return watch({ everyMs: lookMs, look, failure: 'the figures of the database could not be read', log });
}

async function lookForMoves(database: StatementRunner, { movingSites, closedSites }: FigureMetrics): Promise<void> {
	const [row = []] = await database.run(readSiteMoves, []);
	const counts = row.map(Number);
	for (const [index, state] of moveStates.entries()) movingSites.set({ state }, counts[index] ?? 0);
	closedSites.set(counts[moveStates.length] ?? 0);
}
