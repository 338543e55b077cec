import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { type CopyToStreamQuery, from, to } from 'pg-copy-streams';
import { Failure } from '#core/failure.ts';
import type { Cell } from './cell.ts';
import { asText, keyedPlans, limited, type StatementRunner } from './connection.ts';
import type { Statement } from './statement.ts';

export type BulkPurpose = 'import' | 'export';

/** A chunk is written within a second. A statement that takes this long hangs. */
const importStatementMsMax = 120_000;
const exportOptions = '-c default_transaction_isolation=repeatable\\ read -c default_transaction_read_only=on -c jit=off';

/** Returns the settings of the client of a `BulkConnection`. */
export function bulkSettings(purpose: BulkPurpose): pg.ClientConfig {
	const common = { types: asText, application_name: `tributary ${purpose}` };
	// An export is one long statement.
	return purpose === 'import' ? { ...common, ...limited(keyedPlans, importStatementMsMax) } : { ...common, options: exportOptions };
}

/**
 * A connection that COPY may use alone: nothing is pipelined. It is opened once. After an error that is not the statement's own it can no
 * longer be used.
 */
export class BulkConnection implements StatementRunner {
	readonly #client: pg.Client;

	private constructor(client: pg.Client) {
		this.#client = client;
	}

	/** @param client by `bulkSettings`, not yet connected. @throws Failure `unavailable` when the database cannot be reached */
	static async open(client: pg.Client): Promise<BulkConnection> {
		// A connection that breaks fails the query under way; without a listener it would end the process.
		client.on('error', () => undefined);
		try {
			await client.connect();
		} catch (cause) {
			throw new Failure('unavailable', 'the database cannot be reached', { cause });
		}
		return new BulkConnection(client);
	}

	async run(statement: Statement, values: readonly unknown[]): Promise<Cell[][]> {
		const result = await this.#client.query<Cell[]>({
			name: statement.name,
			text: statement.text,
			values: values as unknown[],
			rowMode: 'array',
		});
		return result.rows;
	}

	/** Sends the command and returns the one that PostgreSQL carried out: `commit` of a failed transaction is a `ROLLBACK`. */
	async control(command: 'begin' | 'commit' | 'rollback'): Promise<string> {
		return (await this.#client.query(command)).command;
	}

	/** Updates the planner's statistics of a table that has grown, because a plan made for a small table may be poor now. */
	async analyze(table: string): Promise<void> {
		await this.#client.query(`analyze ${table}`);
	}

	/** Sends rows to `copy … from stdin` and returns their number. */
	async copyIn(text: string, rows: Uint8Array): Promise<number> {
		const stream = this.#client.query(from(text));
		await pipeline([rows], stream);
		return stream.rowCount;
	}

	/** Returns the output of `copy … to stdout`. Its number of rows is known when the next statement is done. */
	copyOut(text: string): CopyToStreamQuery {
		return this.#client.query(to(text, { highWaterMark: 1024 * 1024 }));
	}

	async close(): Promise<void> {
		await this.#client.end().catch(() => undefined);
	}

	/** Ends the connection at once, even during a statement. */
	destroy(): void {
		this.#client.connection.stream.destroy();
	}
}
