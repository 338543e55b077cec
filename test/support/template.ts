import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '#storage/migrate.ts';

/** A database is copied in well under a second, on a busy machine too. */
const limitMs = 60_000;

export const templateName = 'tributary_template';

/** The URL of another database of the same server. */
export function urlOf(url: string, database: string): string {
	const other = new URL(url);
	other.pathname = `/${database}`;
	return other.href;
}

export async function administer(url: string, statement: string): Promise<void> {
	// Without limits a connection that never comes about would hold the file until the runner ends it, and nobody would see where.
	const client = new pg.Client({ connectionString: urlOf(url, 'postgres'), connectionTimeoutMillis: limitMs, query_timeout: limitMs });
	await client.connect();
	try {
		await client.query(statement);
	} finally {
		await Promise.race([client.end(), setTimeout(limitMs, undefined, { ref: false })]);
	}
}

/** Makes the migrated database from which every test's own is copied. */
export async function createTemplate(url: string): Promise<void> {
	await administer(url, `create database ${templateName}`);
	await migrate(urlOf(url, templateName));
}
