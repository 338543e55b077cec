import { otherDatabaseText, wouldStandBeside } from './database-identity.ts';
import { hasCluster } from './embedded/data-directory.ts';
import { startEmbeddedDatabase } from './embedded/embedded-database.ts';
import { MissingDatabaseError } from './missing-database.ts';
import { type RuntimeFile, readRuntimeFile } from './runtime-file.ts';

/**
 * Works on the database of DATABASE_URL, of the running service, or on the embedded one, which is started for as long
 * as the work takes. Work that only reads makes no embedded one.
 * @throws MissingDatabaseError
 */
export async function withDatabase<T>(
	config: { DATABASE_URL?: string | undefined; DATA_DIR: string },
	work: (databaseUrl: string) => Promise<T>,
	{ create = true }: { create?: boolean } = {},
): Promise<T> {
	const known = config.DATABASE_URL ?? databaseOf(readRuntimeFile(config.DATA_DIR));
	if (known !== undefined) return work(known);
	if (wouldStandBeside(config)) throw new MissingDatabaseError(`DATABASE_URL is unset, and ${otherDatabaseText(config.DATA_DIR)}`);
	if (!create && !hasCluster(config.DATA_DIR))
		throw new MissingDatabaseError(
			`there is no database in ${config.DATA_DIR}: check DATA_DIR, or set DATABASE_URL; 'tributary start' makes a new one`,
		);
	const database = await startEmbeddedDatabase({ dataDir: config.DATA_DIR });
	try {
		return await work(database.url);
	} finally {
		await database.stop();
	}
}

/**
 * Returns the database of a running service.
 * @throws Error when it has a password, which the service tells nobody
 */
export function databaseOf(runtime: RuntimeFile | undefined): string | undefined {
	if (runtime?.hasPassword === true)
		throw new Error('the database of the running service has a password: set DATABASE_URL for this command as for the service');
	return runtime?.databaseUrl;
}
