import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import type { ConnectionPool } from './connection-pool.ts';
import { migrationsIn } from './migrations.ts';
import { ormConnection } from './orm-connection.ts';

/**
 * Carries out those of the named migrations that the database lacks, in the order of their numbers. Each is a transaction of its own: nodes serve
 * meanwhile, and its locks are to last no longer than itself. One that fails keeps those before it.
 * @returns the names of those that were carried out
 */
export async function carryOutMigrations(pool: ConnectionPool, names: readonly string[]): Promise<string[]> {
	const migrationsList = (await migrationsIn()).filter(({ name }) => names.includes(name));
	// The ORM would look for its table in `public` alone, where a role with a `search_path` of its own has none.
	const [current] = await pool.rows<{ schema: string }>({ text: 'select current_schema() as schema' }, []);
	const orm = await MikroORM.init({
		...ormConnection(pool),
		...(current && { schema: current.schema }),
		entities: [],
		discovery: { warnWhenNoEntities: false },
		extensions: [Migrator],
		migrations: { migrationsList, snapshot: false, transactional: true, allOrNothing: false, silent: true },
	});
	try {
		return (await orm.migrator.up()).map(({ name }) => name);
	} finally {
		await orm.close(true);
	}
}
