import { startEmbeddedDatabase } from './embedded/embedded-database.ts';
import { readRuntimeFile } from './runtime-file.ts';

export interface OpenDatabase {
	url: string;
	[Symbol.asyncDispose](): Promise<void>;
}

/** The database of the running service, the one of DATABASE_URL, or the embedded one, started for as long as it is needed. */
export async function openDatabase(config: { DATABASE_URL?: string | undefined; DATA_DIR: string }): Promise<OpenDatabase> {
	const known = config.DATABASE_URL ?? readRuntimeFile(config.DATA_DIR)?.databaseUrl;
	if (known !== undefined) return { url: known, [Symbol.asyncDispose]: async () => undefined };
	const database = await startEmbeddedDatabase({ dataDir: config.DATA_DIR });
	return { url: database.url, [Symbol.asyncDispose]: () => database.stop() };
}
