import pg from 'pg';
import { defaultLimits } from '#core/limits.ts';
import { silentLog } from '#core/log.ts';
import { createMetrics } from '#core/metrics.ts';
import { Reader } from '#storage/reader.ts';
import { testDatabase } from './database.ts';

/** A database of its own, a client to fill it and a reader to search it. */
export interface ReadDatabase extends AsyncDisposable {
	client: pg.Client;
	reader: Reader;
}

export async function readDatabase(connections: number): Promise<ReadDatabase> {
	const database = await testDatabase();
	const client = new pg.Client({ connectionString: database.url });
	await client.connect();
	const metrics = createMetrics({ processMetrics: false });
	const reader = new Reader({ databaseUrl: database.url, connections, limits: defaultLimits, metrics, log: silentLog });
	return {
		client,
		reader,
		async [Symbol.asyncDispose]() {
			await reader.close();
			await client.end();
			await database[Symbol.asyncDispose]();
		},
	};
}
