import pg from 'pg';
import type { Reader } from '#storage/reader.ts';
import { testDatabase } from './database.ts';
import { doorTo } from './door.ts';

/** A database of its own, a client to fill it and a reader to search it. */
export interface ReadDatabase extends AsyncDisposable {
	client: pg.Client;
	reader: Reader;
}

export async function readDatabase(connections: number): Promise<ReadDatabase> {
	const database = await testDatabase();
	const client = new pg.Client({ connectionString: database.url });
	await client.connect();
	const { reads: reader } = doorTo(database.url, { readConnectionsMax: connections });
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
