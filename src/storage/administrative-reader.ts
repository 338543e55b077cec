import pg from 'pg';
import { Failure } from '#core/failure.ts';
import type { Statement } from './statement.ts';

/** One short-lived connection for what administrators look up; rows come as objects with converted values. */
export function readRows<T>(databaseUrl: string, statement: Statement, values: readonly unknown[]): Promise<T[]> {
	return withReader(databaseUrl, async (client) => (await client.query({ text: statement.text, values: values as unknown[] })).rows as T[]);
}

/**
 * The same for what people put together, and so may take any time.
 * @throws Failure `invalid` when it takes longer
 */
export function searchRows<T>(databaseUrl: string, statement: Statement, values: readonly unknown[], withinMs: number): Promise<T[]> {
	return withReader(databaseUrl, async (client) => {
		try {
			await client.query('begin');
			await client.query(`set local statement_timeout = ${Math.trunc(withinMs)}`);
			return (await client.query({ text: statement.text, values: values as unknown[] })).rows as T[];
		} catch (error) {
			// PostgreSQL, query_canceled
			if ((error as { code?: unknown }).code !== '57014') throw error;
			throw new Failure('invalid', 'the search takes too long; narrow it, by a site or a time', { cause: error });
		}
	});
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
