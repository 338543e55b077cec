import { StartError } from '#core/start-error.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { openPool } from './database.ts';
import { migrationNames } from './migration-names.ts';
import { MissingDatabaseError } from './missing-database.ts';

/** Any constant will do if every node uses the same one. */
const migrationLock = 7_421_913;

/**
 * Nodes that know this migration work on the schema that all of them make: it was the last one of release 0.1.0, and those since then only expand.
 * Raise it with the first one that takes something away. The database keeps it, for nodes of an earlier release that start again during an upgrade.
 */
const oldestKnowing = '0022-key-digests';

/** One connection holds the lock, one migrates. Statements have no time limit: a table may be large, and another node may be migrating. */
const migrationPool = { max: 2, application_name: 'tributary migration', connectionTimeoutMillis: 5000 };

/**
 * Updates the schema. Two nodes that start together do so one after the other. Whoever only reads makes none where there is none. With `only`
 * the schema gets no other migrations than these, which is how an earlier one is made.
 * @returns the migrations that were carried out, and those of a later release on whose schema this one works
 * @throws MissingDatabaseError when there is none to read
 * @throws StartError when the database is so much newer than this version of the product that it cannot work with it
 */
export async function migrate(
	databaseUrl: string,
	{ create = true, only }: { create?: boolean; only?: readonly string[] } = {},
): Promise<{ applied: string[]; newer: string[] }> {
	return whileLocked(databaseUrl, async (pool) => {
		if (!create && !(await hasSchema(pool)))
			throw new MissingDatabaseError(
				"the database has no tables of Tributary: check DATABASE_URL; 'tributary migrate' or 'tributary start' makes them",
			);
		const { missing, newer } = await compared(pool);
		const wanted = only === undefined ? missing : missing.filter((name) => only.includes(name));
		if (wanted.length === 0) return { applied: [], newer };
		// The ORM's driver, SQL builder and migrator take 12 MB and a fifth of a second, which most starts have no need of.
		const { carryOutMigrations } = await import('./carry-out-migrations.ts');
		const applied = await carryOutMigrations(pool, wanted);
		if (newer.length === 0)
			await pool.rows({ text: `comment on table mikro_orm_migrations is 'works for nodes that know ${oldestKnowing}'` }, []);
		return { applied, newer };
	});
}

/** Tells if a migration has ever run in the database. */
export async function hasSchema(pool: ConnectionPool): Promise<boolean> {
	const [row] = await pool.rows<{ found: boolean }>({ text: `select to_regclass('mikro_orm_migrations') is not null as found` }, []);
	return row?.found === true;
}

/** Returns the names of the migrations that the database lacks. */
export async function pendingMigrations(databaseUrl: string): Promise<string[]> {
	const pool = openPool(databaseUrl, migrationPool);
	try {
		return (await compared(pool)).missing;
	} finally {
		await pool.close();
	}
}

/** Returns those of the names that are no migrations of this version. */
export async function unknownMigrations(names: readonly string[]): Promise<string[]> {
	const known = new Set(await migrationNames());
	return names.filter((name) => !known.has(name));
}

/**
 * Returns the names of the migrations that the database lacks, and of those that only a later release knows.
 * @throws StartError when the schema was made by a later release that this one's nodes do not work with
 */
async function compared(pool: ConnectionPool): Promise<{ missing: string[]; newer: string[] }> {
	const known = new Set(await migrationNames());
	const executed = (await hasSchema(pool))
		? await pool.rows<{ name: string }>({ text: 'select name from mikro_orm_migrations order by id' }, [])
		: [];
	const done = new Set(executed.map(({ name }) => name));
	const missing = [...known].filter((name) => !done.has(name));
	const newer = [...done].filter((name) => !known.has(name));
	if (newer.length === 0) return { missing, newer };
	const [row] = await pool.rows<{ kept: string | null }>({ text: `select obj_description('mikro_orm_migrations'::regclass) as kept` }, []);
	const oldest = /know (\S+)$/.exec(row?.kept ?? '')?.[1];
	if (oldest === undefined || !known.has(oldest))
		throw new StartError(`the database was made by a newer version of Tributary (${newer.join(', ')}), and this one does not work with it`);
	return { missing, newer };
}

/** The lock is held by a transaction of its own, which also works behind a transaction pooler. */
async function whileLocked<T>(databaseUrl: string, work: (pool: ConnectionPool) => Promise<T>): Promise<T> {
	const pool = openPool(databaseUrl, migrationPool);
	try {
		return await pool.transaction(async (client) => {
			await client.query('select pg_advisory_xact_lock($1)', [migrationLock]);
			return work(pool);
		});
	} finally {
		await pool.close();
	}
}
