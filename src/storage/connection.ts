import type pg from 'pg';
import { Failure } from '#core/failure.ts';
import type { Cell } from './cell.ts';
import { keepFreedMemory } from './freed-memory.ts';
import { fitting } from './one-row.ts';
import { ownSession, type WithoutSession } from './pooling.ts';
import { isConsequence, type Trouble } from './sqlstate.ts';
import type { Statement } from './statement.ts';
import { Wire, type WireResult, type WireStatement } from './wire.ts';

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
export function wireSettings(statementMsMax: number): pg.ClientConfig {
	return { options: limited(keyedPlans, statementMsMax).options };
}

/** Runs prepared statements one after the other. */
export interface StatementRunner {
	run(statement: Statement, values: readonly unknown[]): Promise<Cell[][]>;
}

const controls = {
	begin: { name: 'begin', text: 'begin' },
	commit: { name: 'commit', text: 'commit' },
	rollback: { name: 'rollback', text: 'rollback' },
} as const satisfies Record<string, Statement>;

/**
 * One pipelined connection of a worker, opened at its first use and again after it broke. Statements are sent at once; their results come
 * in order. Between `begin` and `commit` those that are sent together fail together; others stand alone.
 */
export class Connection implements StatementRunner {
	readonly #newClient: () => pg.Client;
	readonly #silentMsMax: number;
	#client: pg.Client | undefined;
	#wire: Wire | undefined;
	#opening: Promise<void> | undefined;
	#inTransaction = false;
	readonly #without: WithoutSession;

	/**
	 * @param newClient by `wireSettings`, not yet connected
	 * @param statementMsMax as it was given to `wireSettings`
	 */
	constructor(newClient: () => pg.Client, statementMsMax: number, without: WithoutSession = ownSession) {
		this.#without = without;
		this.#newClient = newClient;
		this.#silentMsMax = statementMsMax + silentMsMax;
	}

	/** @throws Failure `unavailable` when the database cannot be reached */
	async open(): Promise<void> {
		if (this.#wire) return;
		this.#opening ??= this.#connect().finally(() => {
			this.#opening = undefined;
		});
		await this.#opening;
	}

	async #connect(): Promise<void> {
		const client = this.#newClient();
		const forget = () => {
			if (this.#client === client) this.#forget();
		};
		client.on('error', forget);
		client.on('end', forget);
		try {
			await client.connect();
		} catch (cause) {
			throw new Failure('unavailable', 'the database cannot be reached', { cause });
		}
		this.#client = client;
		this.#wire = new Wire(client.connection.stream, this.#silentMsMax, this.#without);
		this.#wire.runAside(keepFreedMemory);
	}

	#forget(): pg.Client | undefined {
		const client = this.#client;
		this.#client = undefined;
		this.#wire = undefined;
		this.#inTransaction = false;
		return client;
	}

	/** Sends a prepared statement; call `open` first. */
	async run(statement: Statement, values: readonly unknown[]): Promise<Cell[][]> {
		const sent = fitting(statement, values);
		return (await this.#write(sent.statement, sent.values)).rows;
	}

	/** Opens the connection if need be, then sends a prepared statement. */
	async runOpened(statement: Statement, values: readonly unknown[]): Promise<Cell[][]> {
		await this.open();
		return this.run(statement, values);
	}

	/** Sends a statement that is not kept, because there are many of its kind; call `open` first. */
	async runOnce(text: string, values: readonly unknown[]): Promise<Cell[][]> {
		return (await this.#write({ name: undefined, text }, values)).rows;
	}

	/** Sends `begin` or `commit` and returns the command that PostgreSQL carried out. */
	async control(command: 'begin' | 'commit'): Promise<string> {
		if (command === 'begin') this.#inTransaction = true;
		const sent = this.#write(controls[command], []);
		if (command === 'commit') this.#inTransaction = false;
		try {
			return (await sent).command;
		} catch (error) {
			// A COMMIT that was passed over with what failed before it is answered as one that comes behind.
			if (command === 'commit' && isConsequence(error)) return 'ROLLBACK';
			throw error;
		}
	}

	async #write(statement: WireStatement, values: readonly unknown[]): Promise<WireResult> {
		if (this.#wire === undefined) throw new Failure('unavailable', 'the database connection was lost');
		return this.#wire.run(statement, values, !this.#inTransaction);
	}

	/** Sends gathered statements at once, so that the database works on them while this thread does something else. */
	flush(): void {
		this.#wire?.flush();
	}

	/** Makes the connection usable after a failed transaction: rolls back, or gives it up. */
	async recover(trouble: Trouble): Promise<void> {
		if (this.#wire === undefined) return;
		this.#inTransaction = false;
		if (trouble !== 'connection') {
			try {
				await this.#write(controls.rollback, []);
				return;
			} catch {
				// A connection that cannot roll back cannot be trusted with another transaction; the server rolls back when it goes.
			}
		}
		this.#forget()?.connection.stream.destroy();
	}

	/** Closes the connection, so that the next use opens a new one. */
	async close(): Promise<void> {
		await this.#forget()?.end();
	}
}
