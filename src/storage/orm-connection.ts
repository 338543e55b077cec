import { createPostgreSqlTypeParsers } from '@mikro-orm/postgresql';
import { type PostgresCursor, PostgresDialect, type PostgresPool, type PostgresPoolClient, type PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { databaseNameOf } from '#core/database-url.ts';
import { type Borrowed, type ConnectionPool, isOfStatement } from './connection-pool.ts';

/** MikroORM on the connections of a pool, which stays open when the ORM is closed. */
export function ormConnection(pool: ConnectionPool): { dbName: string; driverOptions: PostgresDialect } {
	const shared: PostgresPool = { options: {}, connect: async () => new OrmClient(await pool.borrow()), end: async () => undefined };
	return { dbName: databaseNameOf(pool.url), driverOptions: new PostgresDialect({ pool: shared }) };
}

/** MikroORM converts times itself. Other users of the pool have the driver do it, so the rule goes with each statement. */
const types = new pg.TypeOverrides();
for (const [type, parse] of Object.entries(createPostgreSqlTypeParsers((text) => pg.types.arrayParser(text, (value) => value)))) {
	types.setTypeParser(Number(type), parse);
}

class OrmClient implements PostgresPoolClient {
	readonly #borrowed: Borrowed;
	#broken: unknown;

	constructor(borrowed: Borrowed) {
		this.#borrowed = borrowed;
	}

	query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
	query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
	query<R>(text: string | PostgresCursor<R>, values: readonly unknown[] = []): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
		if (typeof text !== 'string') throw new Error('rows of entities are not read by a cursor');
		return this.#query(text, values);
	}

	async #query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>> {
		try {
			return (await this.#borrowed.client.query({ text, values: values as unknown[], types })) as unknown as PostgresQueryResult<R>;
		} catch (error) {
			if (!isOfStatement(error)) this.#broken ??= error;
			throw error;
		}
	}

	release(): void {
		this.#borrowed.release(this.#broken);
	}
}
