import pg, { type QueryArrayResult } from 'pg';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import type { Cell } from './connection.ts';
import type { Statement } from './statement.ts';

export interface ReaderOptions {
	databaseUrl: string;
	connections: number;
	log: Log;
}

const statementMsMax = 30_000;
const inFlightMax = 2000;
const asText = { getTypeParser: () => (value: string) => value };

/**
 * A few pipelined connections for reads. A connection that breaks is opened again by the next read; while the database
 * is away, reads fail at once with `unavailable`.
 */
export class Reader {
	readonly #options: ReaderOptions;
	readonly #slots: (pg.Client | Promise<pg.Client> | undefined)[];
	#next = 0;
	#inFlight = 0;

	constructor(options: ReaderOptions) {
		this.#options = options;
		this.#slots = Array.from({ length: options.connections });
	}

	get inFlight(): number {
		return this.#inFlight;
	}

	/** @throws Failure `unavailable` when the database cannot be reached or is too slow */
	async run(statement: Statement, values: readonly unknown[]): Promise<Cell[][]> {
		if (this.#inFlight >= inFlightMax) throw new Failure('unavailable', 'too many reads are under way', { retryAfterSeconds: 1 });
		this.#inFlight++;
		try {
			const client = await this.#client();
			const query = { name: statement.name, text: statement.text, values: values as unknown[], rowMode: 'array' as const };
			const result: QueryArrayResult<Cell[]> = await client.query<Cell[]>(query);
			return result.rows;
		} catch (error) {
			if (error instanceof Failure || !isOutage(error)) throw error;
			throw new Failure('unavailable', 'the database does not answer', { cause: error, retryAfterSeconds: 2 });
		} finally {
			this.#inFlight--;
		}
	}

	#client(): pg.Client | Promise<pg.Client> {
		const slot = this.#next++ % this.#slots.length;
		const held = this.#slots[slot];
		if (held) return held;
		const opening = this.#open(slot);
		this.#slots[slot] = opening;
		return opening;
	}

	async #open(slot: number): Promise<pg.Client> {
		const client = new pg.Client({
			connectionString: this.#options.databaseUrl,
			pipeline: true,
			types: asText as unknown as pg.CustomTypesConfig,
			application_name: 'tributary read',
			options: `-c default_transaction_read_only=on -c statement_timeout=${statementMsMax} -c jit=off`,
			connectionTimeoutMillis: 5000,
			query_timeout: statementMsMax + 5000,
			keepAlive: true,
		});
		const forget = () => {
			if (this.#slots[slot] === client) this.#slots[slot] = undefined;
		};
		client.on('error', (error) => {
			this.#options.log.warn({ err: error }, 'a read connection was lost');
			forget();
		});
		client.on('end', forget);
		try {
			await client.connect();
		} catch (cause) {
			this.#slots[slot] = undefined;
			throw new Failure('unavailable', 'the database cannot be reached', { cause, retryAfterSeconds: 2 });
		}
		this.#slots[slot] = client;
		return client;
	}

	async close(): Promise<void> {
		const clients = await Promise.allSettled(this.#slots.filter((slot) => slot !== undefined));
		await Promise.all(clients.map((client) => (client.status === 'fulfilled' ? client.value.end() : undefined)));
	}
}

function isOutage(error: unknown): boolean {
	const state = (error as { code?: unknown }).code;
	if (typeof state !== 'string') return error instanceof Error && /connection|terminated|timeout|closed/i.test(error.message);
	return /^(08|53|57)/.test(state) || /^E[A-Z]+$/.test(state);
}
