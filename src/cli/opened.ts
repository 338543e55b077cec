import { silentLog } from '#core/log.ts';
import { Database } from '#storage/database.ts';
import { migrate } from '#storage/migrate.ts';
import { withDatabase } from '#storage/open.ts';
import type { Config } from '../config.ts';
import { createMetrics } from '../metrics.ts';
import type { CliStreams } from './command.ts';
import { forPeople } from './print.ts';

/** A command works on these. */
export interface Opened {
	config: Config;
	database: Database;
	databaseUrl: string;
}

/**
 * Opens the database for a command. One that only reads (`create: false`) makes none where there is none.
 * @throws MissingDatabaseError
 */
export function withOpened<T>(config: Config, work: (opened: Opened) => Promise<T>, { create }: { create: boolean }): Promise<T> {
	return withDatabase(
		config,
		async (databaseUrl) => {
			await migrate(databaseUrl, { create });
			const database = openDatabase(databaseUrl, config);
			try {
				return await work({ config, database, databaseUrl });
			} finally {
				await database.close();
			}
		},
		{ create },
	);
}

/** Opens the access of a command to a database whose schema stays as it is. */
export function openDatabase(url: string, { limits }: Config): Database {
	return new Database({ url, limits, metrics: createMetrics({ processMetrics: false }), log: silentLog });
}

/** Prints the result of a command as it was asked for. */
export function printed(result: unknown, { json, wide }: { json: boolean; wide: boolean }, { stdout }: CliStreams): void {
	stdout.write(json ? `${JSON.stringify(result)}\n` : forPeople(result, { columns: wide ? undefined : stdout.columns }));
}
