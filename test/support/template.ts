import pg from 'pg';
import { migrate } from '#storage/migrate.ts';

export const templateName = 'tributary_template';

/** The URL of another database of the same server. */
export function urlOf(url: string, database: string): string {
	const other = new URL(url);
	other.pathname = `/${database}`;
	return other.href;
}

export async function administer(url: string, statement: string): Promise<void> {
	const client = new pg.Client({ connectionString: urlOf(url, 'postgres') });
	await client.connect();
	try {
		await client.query(statement);
	} finally {
		await client.end();
	}
}

/** Makes the migrated database from which every test's own is copied. */
export async function createTemplate(url: string): Promise<void> {
	await administer(url, `create database ${templateName}`);
	await migrate(urlOf(url, templateName));
}
