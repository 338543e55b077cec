import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { type CopyToStreamQuery, from, to } from 'pg-copy-streams';
import { Failure } from '#core/failure.ts';
import type { Cell } from './cell.ts';
import { asText, keyedPlans, limited, type StatementRunner } from './connection.ts';
import { keepFreedMemory } from './freed-memory.ts';
import type { WithoutSession } from './pooling.ts';
import type { Statement } from './statement.ts';

export type BulkPurpose = 'import' | 'export' | 'backup' | 'restore' | 'move';

/** A chunk is written within a second. A statement that takes this long hangs. */
const importStatementMsMax = 120_000;
const exportOptions = '-c default_transaction_isolation=repeatable\\ read -c default_transaction_read_only=on -c jit=off';

/** Returns the settings of the client of a `BulkConnection`. */
export function bulkSettings(purpose: BulkPurpose): pg.ClientConfig {
	const common = { types: asText, application_name: `tributary ${purpose}` };
	// They say by statements what holds, as not every pooler takes options.
	if (purpose === 'backup' || purpose === 'restore' || purpose === 'move') return common;
	// An export is one long statement.
	return purpose === 'import' ? { ...common, ...limited(keyedPlans, importStatementMsMax) } : { ...common, options: exportOptions };
}

/**
 * A connection that COPY may use alone: nothing is pipelined. It is opened once. After an error that is not the statement's own it can no
 * longer be used.
 */
export class BulkConnection implements StatementRunner {
	readonly #client: pg.Client;

	readonly #without: WithoutSession;

	private constructor(client: pg.Client, without: WithoutSession) {
		this.#client = client;
		this.#without = without;
	}

	/** @param client by `bulkSettings`, not yet connected. @throws Failure `unavailable` when the database cannot be reached */
	static async open(client: pg.Client, without: WithoutSession): Promise<BulkConnection> {
		// A connection that breaks fails the query under way; without a listener it would end the process.
		client.on('error', () => undefined);
		try {
			await client.connect();
			await client.query(keepFreedMemory);
		} catch (cause) {
			client.end().catch(() => undefined);
			throw new Failure('unavailable', 'the database cannot be reached', { cause });
		}
		return new BulkConnection(client, without);
	}

	async run(statement: Statement, values: readonly unknown[]): Promise<Cell[][]> {
		const result = await this.#client.query<Cell[]>({
			name: this.#without.prepares ? statement.name : undefined,
			text: statement.text,
			values: values as unknown[],
			rowMode: 'array',
		});
		return result.rows;
	}

	/** Sends the command and returns the one that PostgreSQL carried out: `commit` of a failed transaction is a `ROLLBACK`. */
	async control(command: 'begin' | 'commit' | 'rollback'): Promise<string> {
		const { command: done } = await this.#client.query(command);
		if (command === 'begin') for (const [name, value] of this.#without.settings) await this.#client.query(`set local ${name} = '${value}'`);
		return done;
	}

	/** Updates the planner's statistics of a table that has grown, because a plan made for a small table may be poor now. */
	async analyze(table: string): Promise<void> {
		await this.#client.query(`analyze ${table}`);
	}

	/** Returns cells as PostgreSQL writes them. The statement is not kept prepared. */
	async cells(text: string, values: readonly unknown[] = []): Promise<Cell[][]> {
		return (await this.#client.query<Cell[]>({ text, values: values as unknown[], rowMode: 'array' })).rows;
	}

	/** Carries out statements that return nothing, one behind the other. */
	async execute(...texts: string[]): Promise<void> {
		for (const text of texts) await this.#client.query(text);
	}

	/** Sends rows to `copy … from stdin` and returns their number. */
	async copyIn(text: string, rows: Uint8Array | AsyncIterable<Uint8Array>): Promise<number> {
		const stream = this.#client.query(from(text));
		await pipeline(rows instanceof Uint8Array ? [rows] : rows, stream);
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
