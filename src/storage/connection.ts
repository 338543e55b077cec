import type pg from 'pg';
import type { QueryArrayResult } from 'pg';
import { Failure } from '#core/failure.ts';
import type { Trouble } from './sqlstate.ts';
import type { Statement } from './statement.ts';

/** A column as PostgreSQL writes it, or null; nothing is converted on the way in. */
export type Cell = string | null;

/**
 * Planner settings of the connections that write. Every statement there is a lookup or a write by key. A generic plan made while a table
 * was
 * empty must not become a scan when the table has grown.
 */
export const keyedPlans =
	'-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c plan_cache_mode=force_generic_plan -c jit=off';

/** Turns conversion off: cells are texts. */
export const asText = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;

/** A server that does not end a statement in its time, and this much longer, does not answer any more. */
export const silentMsMax = 5000;

/**
 * Options for connections whose statements take `statementMsMax` at most: the server itself ends a longer one, so that nothing goes
 * on to commit behind a connection that was given up.
 */
export function limited(options: string, statementMsMax: number): Pick<pg.ClientConfig, 'options' | 'query_timeout'> {
	return { options: `${options} -c statement_timeout=${statementMsMax}`, query_timeout: statementMsMax + silentMsMax };
}

/** The settings of a connection's client. */
export function pipelinedSettings(statementMsMax: number): pg.ClientConfig {
	return { pipeline: true, types: asText, ...limited(keyedPlans, statementMsMax) };
}

/** Runs prepared statements one after the other. */
export interface StatementRunner {
	run(statement: Statement, values: readonly unknown[]): Promise<Cell[][]>;
}

/**
 * One pipelined connection of a worker, opened at its first use and again after it broke. Statements are sent at once; their results come
 * in
 * order.
 */
export class Connection implements StatementRunner {
	readonly #newClient: () => pg.Client;
	#client: pg.Client | undefined;
	#opening: Promise<pg.Client> | undefined;
	#gathering: pg.Client | undefined;

	/** @param newClient by `pipelinedSettings`, not yet connected */
	constructor(newClient: () => pg.Client) {
		this.#newClient = newClient;
	}

	async open(): Promise<void> {
		await this.#opened();
	}

	/** @throws Failure `unavailable` when the database cannot be reached */
	async #opened(): Promise<pg.Client> {
		if (this.#client) return this.#client;
		this.#opening ??= this.#connect().finally(() => {
			this.#opening = undefined;
		});
		return this.#opening;
	}

	async #connect(): Promise<pg.Client> {
		const client = this.#newClient();
		const forget = () => {
			if (this.#client === client) this.#client = undefined;
		};
		client.on('error', forget);
		client.on('end', forget);
		try {
			await client.connect();
		} catch (cause) {
			throw new Failure('unavailable', 'the database cannot be reached', { cause });
		}
		this.#client = client;
		return client;
	}

	/** Sends a prepared statement; call `open` first. */
	run(statement: Statement, values: readonly unknown[]): Promise<Cell[][]> {
		return this.#query({ name: statement.name, text: statement.text, values: values as unknown[], rowMode: 'array' }).then(
			(result) => result.rows,
		);
	}

	/** Opens the connection if need be, then sends a prepared statement. */
	async runOpened(statement: Statement, values: readonly unknown[]): Promise<Cell[][]> {
		await this.open();
		return this.run(statement, values);
	}

	/** Sends a statement that is not kept, because there are many of its kind; call `open` first. */
	runOnce(text: string, values: readonly unknown[]): Promise<Cell[][]> {
		return this.#query({ text, values: values as unknown[], rowMode: 'array' }).then((result) => result.rows);
	}

	/** Sends `begin` or `commit` and returns the command that PostgreSQL carried out. */
	control(command: 'begin' | 'commit'): Promise<string> {
		return this.#query({ text: command, rowMode: 'array' }).then((result) => result.command);
	}

	#query(query: pg.QueryArrayConfig): Promise<QueryArrayResult<Cell[]>> {
		if (!this.#client) return Promise.reject(new Failure('unavailable', 'the database connection was lost'));
		this.#gather(this.#client);
		return this.#client.query<Cell[]>(query);
	}

	/** Joins statements that are sent together into one write: each write wakes the server, which costs more than most statements. */
	#gather(client: pg.Client): void {
		if (this.#gathering === client) return;
		this.#gathering = client;
		client.connection.stream.cork();
		process.nextTick(() => this.#send(client));
	}

	/** Sends gathered statements at once, so that the database works on them while this thread does something else. */
	flush(): void {
		if (this.#gathering) this.#send(this.#gathering);
	}

	#send(client: pg.Client): void {
		if (this.#gathering === client) this.#gathering = undefined;
		client.connection.stream.uncork();
	}

	/** Makes the connection usable after a failed transaction: rolls back, or gives it up. */
	async recover(trouble: Trouble): Promise<void> {
		const client = this.#client;
		if (client === undefined) return;
		if (trouble !== 'connection') {
			try {
				await client.query('rollback');
				return;
			} catch {
				// A connection that cannot roll back cannot be trusted with another transaction; the server rolls back when it goes.
			}
		}
		this.#client = undefined;
		client.connection.stream.destroy();
	}

	/** Closes the connection, so that the next use opens a new one. */
	async close(): Promise<void> {
		const client = this.#client;
		this.#client = undefined;
		await client?.end();
	}
}
