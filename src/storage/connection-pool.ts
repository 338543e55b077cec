import pg from 'pg';
import { readDatabaseUrl } from '#core/database-url.ts';
import { Failure } from '#core/failure.ts';
import type { Cell } from './cell.ts';
import { asText, type StatementRunner } from './connection.ts';
import { troubleOf } from './sqlstate.ts';
import type { Statement } from './statement.ts';

/** A connection that was borrowed from a pool. */
export interface Borrowed {
	client: pg.ClientBase;
	/** Returns it. After an error that is not the statement's own the pool opens a new connection in its place. */
	release(error?: unknown): void;
}

/**
 * A few connections for single statements from many callers. Each is borrowed for one statement or one transaction. If none is free, the
 * caller waits for a bounded time. A connection that breaks is replaced when the next one is needed.
 */
export class ConnectionPool implements StatementRunner {
	readonly url: string;
	readonly #pool: pg.Pool;
	readonly #prepares: boolean;

	/** @param url what the pool connects to */
	constructor(url: string, pool: pg.Pool) {
		this.url = url;
		this.#pool = pool;
		this.#prepares = readDatabaseUrl(url).pooling !== 'unprepared';
	}

	/** Returns rows as objects with converted values. */
	async rows<T>(statement: Pick<Statement, 'text'>, values: readonly unknown[]): Promise<T[]> {
		return this.use(async (client) => (await client.query({ text: statement.text, values: values as unknown[] })).rows as T[]);
	}

	/**
	 * Returns rows like `rows`, for searches that users compose and that may therefore take long.
	 * @throws Failure `invalid` when it takes longer than `withinMs`
	 */
	async search<T>(statement: Pick<Statement, 'text'>, values: readonly unknown[], withinMs: number): Promise<T[]> {
		try {
			return await this.transaction(async (client) => {
				await client.query(`set local statement_timeout = ${Math.trunc(withinMs)}`);
				return (await client.query({ text: statement.text, values: values as unknown[] })).rows as T[];
			});
		} catch (error) {
			// PostgreSQL, query_canceled
			if ((error as { code?: unknown }).code !== '57014') throw error;
			throw new Failure('invalid', 'the search takes too long; narrow it, by a site or a time', { cause: error });
		}
	}

	/** Returns cells as PostgreSQL writes them. The statement stays prepared on the connection. */
	async run({ name, text }: Statement, values: readonly unknown[]): Promise<Cell[][]> {
		const query = { name: this.#prepares ? name : undefined, text, values: values as unknown[], rowMode: 'array' as const, types: asText };
		return this.use(async (client) => (await client.query<Cell[]>(query)).rows);
	}

	/** Runs several statements in one transaction, which is rolled back when one of them fails. */
	async transaction<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
		return this.use(async (client) => {
			await client.query('begin');
			try {
				const result = await work(client);
				await client.query('commit');
				return result;
			} catch (error) {
				if (isOfStatement(error)) await client.query('rollback');
				throw error;
			}
		});
	}

	/** Runs several statements on one connection. @throws Failure `unavailable` also when it breaks */
	async use<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
		const { client, release } = await this.borrow();
		try {
			const result = await work(client);
			release();
			return result;
		} catch (error) {
			release(error);
			if (troubleOf(error) !== 'connection' || error instanceof Failure) throw error;
			throw new Failure('unavailable', 'the database does not answer', { cause: error, retryAfterSeconds: 2 });
		}
	}

	/** @throws Failure `unavailable` when the database cannot be reached, or all connections stay in use */
	async borrow(): Promise<Borrowed> {
		const client = await this.#connected();
		return { client, release: (error) => client.release(error !== undefined && !isOfStatement(error)) };
	}

	async #connected(): Promise<pg.PoolClient> {
		try {
			return await this.#pool.connect();
		} catch (cause) {
			const { max } = this.#pool.options;
			const isFull = this.#pool.totalCount >= max && (cause as { code?: unknown }).code === undefined;
			const text = isFull ? `all ${max} connections to the database are in use` : 'the database cannot be reached';
			throw new Failure('unavailable', text, { cause, retryAfterSeconds: 2 });
		}
	}

	/** Returns the number of open connections, and of requests that wait for one. */
	get size(): { open: number; waiting: number } {
		return { open: this.#pool.totalCount, waiting: this.#pool.waitingCount };
	}

	/** Waits for borrowed connections to be returned. */
	async close(): Promise<void> {
		if (!this.#pool.ending) await this.#pool.end();
	}
}

/** Tells whether PostgreSQL refused only the statement, so that the connection can still be used. Otherwise a result may still arrive. */
export function isOfStatement(error: unknown): boolean {
	return error instanceof Failure || (error instanceof pg.DatabaseError && error.code !== undefined && troubleOf(error) !== 'connection');
}

/** Carries a statement out on a borrowed connection. Returns rows as arrays of converted values. */
export async function carriedOut(
	client: pg.ClientBase,
	{ text }: Pick<Statement, 'text'>,
	values: readonly unknown[] = [],
): Promise<unknown[][]> {
	return (await client.query<unknown[]>({ text, values: values as unknown[], rowMode: 'array' })).rows;
}
