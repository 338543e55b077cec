import pg from 'pg';
import type { Statement } from './statement.ts';

/** One short-lived connection for what administrators look up; rows come as objects with converted values. */
export function readRows<T>(databaseUrl: string, statement: Statement, values: readonly unknown[]): Promise<T[]> {
	return withReader(databaseUrl, async (client) => (await client.query({ text: statement.text, values: values as unknown[] })).rows as T[]);
}

export async function withReader<T>(databaseUrl: string, read: (client: pg.Client) => Promise<T>): Promise<T> {
	const client = new pg.Client({ connectionString: databaseUrl, application_name: 'tributary administration' });
	await client.connect();
	try {
		return await read(client);
	} finally {
		await client.end();
	}
}
