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

/**
 * Begins or undoes a transaction. Where such a statement fails, Kysely keeps the connection for good: it returns it only after a COMMIT or ROLLBACK
 * that succeeded.
 */
const turnsTransaction = /^(?:begin|start transaction|rollback)/;

/** A borrowed connection that Kysely uses. It is returned once, by Kysely or, where Kysely would keep it, as soon as it is of no more use. */
class OrmClient implements PostgresPoolClient {
	readonly #borrowed: Borrowed;
	#broken: unknown;
	#isReturned = false;

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
		// The connection may be somebody else's by now.
		if (this.#isReturned) throw this.#broken;
		try {
			return (await this.#borrowed.client.query({ text, values: values as unknown[], types })) as unknown as PostgresQueryResult<R>;
		} catch (error) {
			if (!isOfStatement(error) || turnsTransaction.test(text)) this.#giveUp(error);
			throw error;
		}
	}

	#giveUp(error: unknown): void {
		this.#broken ??= error;
		this.release();
	}

	release(): void {
		if (this.#isReturned) return;
		this.#isReturned = true;
		this.#borrowed.release(this.#broken);
	}
}
