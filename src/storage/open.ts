import { startEmbeddedDatabase } from './embedded/embedded-database.ts';
import { readRuntimeFile } from './runtime-file.ts';

/**
 * Works on the database of DATABASE_URL, of the running service, or on the embedded one, which is started for as long
 * as the work takes.
 */
export async function withDatabase<T>(
	config: { DATABASE_URL?: string | undefined; DATA_DIR: string },
	work: (databaseUrl: string) => Promise<T>,
): Promise<T> {
	const known = config.DATABASE_URL ?? readRuntimeFile(config.DATA_DIR)?.databaseUrl;
	if (known !== undefined) return work(known);
	const database = await startEmbeddedDatabase({ dataDir: config.DATA_DIR });
	try {
		return await work(database.url);
	} finally {
		await database.stop();
	}
}
