import type pg from 'pg';
import type { QueryArrayResult } from 'pg';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { asText, type Cell, limited } from './connection.ts';
import type { StorageLimits } from './limits.ts';
import type { StorageMetrics } from './metrics.ts';
import { isReadOnly, troubleOf } from './sqlstate.ts';

export interface ReaderOptions {
	/** Makes a client with `readSettings` that is not yet connected. */
	newClient(): pg.Client;
	connections: number;
	limits: Pick<StorageLimits, 'readStatementsMax' | 'readMsMax'>;
	metrics: Pick<StorageMetrics, 'readFailures'>;
	log: Log;
}

/** A statement that only reads. Without a name it is not kept on the connection and is planned for its values. */
export interface ReadStatement {
	readonly name: string | undefined;
	readonly text: string;
}

interface Slot {
	client: pg.Client | undefined;
	opening: Promise<pg.Client> | undefined;
	inFlight: number;
	/** Failed attempts to connect since the last successful one. */
	failures: number;
	/** The next attempt to connect must not be made before this moment. */
	notBeforeMs: number;
}

/** Pauses between attempts to connect. Meanwhile readers are answered at once that the database is away. */
const backOffMs = { first: 100, most: 5000 };

/** Returns the settings of the clients of a `Reader`. */
export function readSettings({ readMsMax }: Pick<StorageLimits, 'readMsMax'>): pg.ClientConfig {
	return {
		pipeline: true,
		types: asText,
		application_name: 'tributary read',
		...limited('-c default_transaction_read_only=on -c jit=off', readMsMax),
	};
}

/**
 * A few pipelined connections for reads. Each read takes the least busy one, so that a slow search delays few others. A later read reopens
 * a
 * connection that broke; between failed attempts reads fail at once.
 */
export class Reader {
	readonly #options: ReaderOptions;
	readonly #slots: readonly Slot[];
	#inFlight = 0;
	#closed = false;

	constructor(options: ReaderOptions) {
		this.#options = options;
		this.#slots = Array.from({ length: options.connections }, () => ({
			client: undefined,
			opening: undefined,
			inFlight: 0,
			failures: 0,
			notBeforeMs: 0,
		}));
	}

	get inFlight(): number {
		return this.#inFlight;
	}

	/** @throws Failure `unavailable` when the database cannot be reached, is too slow, or has too much to do already */
	async run(statement: ReadStatement, values: readonly unknown[]): Promise<Cell[][]> {
		if (this.#inFlight >= this.#options.limits.readStatementsMax) {
			throw new Failure('unavailable', 'too many reads are under way', { retryAfterSeconds: 1 });
		}
		const slot = this.#leastBusy();
		slot.inFlight++;
		this.#inFlight++;
		let client: pg.Client | undefined;
		try {
			client = slot.client ?? (await this.#opened(slot));
			const named = statement.name === undefined ? {} : { name: statement.name };
			const result: QueryArrayResult<Cell[]> = await client.query<Cell[]>({
				...named,
				text: statement.text,
				values: values as unknown[],
				rowMode: 'array',
			});
			return result.rows;
		} catch (error) {
			this.#options.metrics.readFailures.inc();
			const trouble = troubleOf(error);
			const isAway = trouble === 'connection' || trouble === 'repeat';
			if (error instanceof Failure || !isAway || isReadOnly(error)) throw error;
			// PostgreSQL says that it ends the connection a moment before the socket closes: the next read must not go there.
			if (trouble === 'connection' && slot.client === client) {
				slot.client = undefined;
				client?.connection.stream.destroy();
			}
			throw new Failure('unavailable', 'the database does not answer', { cause: error, retryAfterSeconds: 2 });
		} finally {
			slot.inFlight--;
			this.#inFlight--;
		}
	}

	/** A connection that must wait before its next try is used only when all of them must. */
	#leastBusy(): Slot {
		const nowMs = Date.now();
		const waits = (slot: Slot) => (slot.client === undefined && nowMs < slot.notBeforeMs ? 1 : 0);
		return this.#slots.reduce((best, slot) => ((waits(slot) - waits(best) || slot.inFlight - best.inFlight) < 0 ? slot : best));
	}

	async #opened(slot: Slot): Promise<pg.Client> {
		if (slot.opening) return slot.opening;
		if (this.#closed || Date.now() < slot.notBeforeMs) {
			throw new Failure('unavailable', 'the database cannot be reached', { retryAfterSeconds: 2 });
		}
		slot.opening = this.#open(slot).finally(() => {
			slot.opening = undefined;
		});
		return slot.opening;
	}

	async #open(slot: Slot): Promise<pg.Client> {
		const { newClient, log } = this.#options;
		const client = newClient();
		const forget = () => {
			if (slot.client === client) slot.client = undefined;
		};
		client.on('error', (error) => {
			log.warn({ err: error }, 'a read connection was lost');
			forget();
		});
		client.on('end', forget);
		try {
			await client.connect();
		} catch (cause) {
			slot.notBeforeMs = Date.now() + Math.min(backOffMs.first * 2 ** slot.failures++, backOffMs.most);
			throw new Failure('unavailable', 'the database cannot be reached', { cause, retryAfterSeconds: 2 });
		}
		slot.failures = 0;
		slot.client = client;
		return client;
	}

	async close(): Promise<void> {
		this.#closed = true;
		await Promise.allSettled(this.#slots.map((slot) => slot.opening));
		await Promise.all(this.#slots.map((slot) => slot.client?.end()));
	}
}
