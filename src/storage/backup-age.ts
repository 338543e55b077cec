import type { Log } from '#core/log.ts';
import { type Watch, watch } from '#core/watch.ts';
import type { StatementRunner } from './connection.ts';
import { lastBackup } from './statements/administrative/note-backup.ts';

/** Backups are made by day or by hour. */
const lookMs = 60_000;

/**
 * Keeps the age of the last finished backup current, for the alert about it. It is known from the audit trail, so every node tells the same; for
 * whoever backs up in another way it stays 0.
 */
export function watchBackups(options: {
	database: StatementRunner;
	metrics: { backupAge: { set(seconds: number): void } };
	log: Log;
}): Watch {
	const { database, metrics, log } = options;
	const look = async () => {
		const [row] = await database.run(lastBackup, []);
		if (row?.[0] != null) metrics.backupAge.set(Number(row[0]));
	};
	return watch({ everyMs: lookMs, look, failure: 'the age of the last backup could not be read', log });
}
