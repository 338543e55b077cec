import { statfs } from 'node:fs/promises';
import type { Log } from '#core/log.ts';
import { type Watch, watch } from '#core/watch.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { databaseBytes } from '#storage/statements/administrative/storage-used.ts';
import type { RetentionLimits } from './limits.ts';
import type { RetentionMetrics } from './metrics.ts';

/** The disk fills in hours rather than seconds; a look costs one call of the file system and one statement. */
const everyMs = 30_000;

export interface BudgetOptions {
	dataDir: string;
	database: StatementRunner;
	limits: Pick<RetentionLimits, 'diskBudgetBytes' | 'databaseBudgetBytes'>;
	metrics: Pick<RetentionMetrics, 'diskBytes' | 'databaseBytes' | 'budgetUsed'>;
	log: Log;
}

/** Measures the file system with DATA_DIR and the size of the database, until it is closed. */
export function watchBudget(options: BudgetOptions): Watch {
	const { log } = options;
	const failure = 'what is in use could not be measured';
	const look = async () => {
		// One of the two may be away without the other.
		const looks = await Promise.allSettled([measureDisk(options), measureDatabase(options)]);
		for (const one of looks) if (one.status === 'rejected') log.debug({ err: one.reason }, failure);
	};
	return watch({ everyMs, look, failure, log });
}

/** Space that only root may still use counts as in use, as `df` has it. */
async function measureDisk({ dataDir, limits, metrics }: BudgetOptions): Promise<void> {
	const { bsize, blocks, bavail } = await statfs(dataDir);
	const [size, free] = [blocks * bsize, bavail * bsize];
	const used = size - free;
	metrics.diskBytes.set({ kind: 'free' }, free);
	metrics.diskBytes.set({ kind: 'used' }, used);
	const budget = limits.diskBudgetBytes === 0 ? size : Math.min(size, limits.diskBudgetBytes);
	if (budget > 0) metrics.budgetUsed.set({ store: 'disk' }, used / budget);
}

async function measureDatabase({ database, limits, metrics }: BudgetOptions): Promise<void> {
	const [row] = await database.run(databaseBytes, []);
	const bytes = Number(row?.[0] ?? 0);
	metrics.databaseBytes.set(bytes);
	if (limits.databaseBudgetBytes > 0) metrics.budgetUsed.set({ store: 'database' }, bytes / limits.databaseBudgetBytes);
}
