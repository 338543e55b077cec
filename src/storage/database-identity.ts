import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPool } from './database.ts';
import { hasCluster } from './embedded/data-directory.ts';
import { hasSchema } from './migrate.ts';

/**
 * The file of the data directory with the id of the database that its objects, exports and keys belong to. The first start that serves
 * writes it, and nothing changes it later.
 */
const nameOf = (dataDir: string) => join(dataDir, 'database-id');

function notedDatabase(dataDir: string): string | undefined {
	const path = nameOf(dataDir);
	return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

/** Ties the data directory to a database, unless it is tied to one. */
export async function tieToDatabase(dataDir: string, databaseUrl: string): Promise<void> {
	if (notedDatabase(dataDir) !== undefined) return;
	const id = await identityOf(databaseUrl);
	if (id === undefined) return;
	const path = nameOf(dataDir);
	writeFileSync(`${path}.new`, `${id}\n`, { mode: 0o640 });
	renameSync(`${path}.new`, path);
}

/** Tells if the data directory is tied to another database than this one. */
export async function isTiedToAnother(dataDir: string, databaseUrl: string): Promise<boolean> {
	const noted = notedDatabase(dataDir);
	return noted !== undefined && noted !== (await identityOf(databaseUrl));
}

/**
 * Returns the id of a database; undefined before its first migration. It follows from the moment of that migration, to the microsecond.
 * So every database has one without a table of its own, a dump and a standby have that of their original, and no two that were made
 * apart are alike.
 */
async function identityOf(databaseUrl: string): Promise<string | undefined> {
	const pool = openPool(databaseUrl, {
		max: 1,
		application_name: 'tributary identity',
		connectionTimeoutMillis: 5000,
		query_timeout: 10_000,
	});
	try {
		if (!(await hasSchema(pool))) return undefined;
		const moment = `to_char(executed_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')`;
		const text = `select md5(name || ' ' || ${moment}) as id from mikro_orm_migrations order by mikro_orm_migrations.id limit 1`;
		const [row] = await pool.rows<{ id: string }>({ text }, []);
		return row?.id;
	} finally {
		await pool.close();
	}
}

/** True if an embedded database would be made anew beside what belongs to another one. */
export function wouldStandBeside({
	DATABASE_URL: url,
	DATA_DIR: dataDir,
}: {
	DATABASE_URL?: string | undefined;
	DATA_DIR: string;
}): boolean {
	return url === undefined && notedDatabase(dataDir) !== undefined && !hasCluster(dataDir);
}

/** The sentence for people about a data directory that is tied to another database. */
export function otherDatabaseText(dataDir: string): string {
	return `${dataDir} belongs to another database, so this one would not know its objects: set DATABASE_URL or DATA_DIR as before; if this is meant, remove ${nameOf(dataDir)}`;
}
