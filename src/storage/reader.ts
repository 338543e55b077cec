import type pg from 'pg';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import type { Cell } from './cell.ts';
import { limited, silentMsMax } from './connection.ts';
import { keepFreedMemory } from './freed-memory.ts';
import type { StorageLimits } from './limits.ts';
import type { StorageMetrics } from './metrics.ts';
import type { WithoutSession } from './pooling.ts';
import { ReadTurns, type TurnSlot } from './read-turns.ts';
import type { ReplicaCondition } from './replica/replica-watch.ts';
import { isReadOnly, troubleOf } from './sqlstate.ts';
import { Wire, type WireStatement } from './wire.ts';

export interface ReaderOptions {
	/** Makes a client with `readSettings` that is not yet connected. */
	newClient(): pg.Client;
	connections: number;
	without: WithoutSession;
	limits: Pick<StorageLimits, 'readStatementsMax' | 'readMsMax'>;
	metrics: Pick<StorageMetrics, 'readFailures'>;
	log: Log;
}

/** A statement that only reads. Without a name it is planned for its values. */
export type ReadStatement = WireStatement;

interface Slot extends TurnSlot {
	open: OpenReader | undefined;
	opening: Promise<OpenReader> | undefined;
}

interface OpenReader {
	readonly client: pg.Client;
	readonly wire: Wire;
}

/** Pauses between attempts to connect. Meanwhile readers are answered at once that the database is away. */
const backOffMs = { first: 100, most: 5000 };

/** Returns the settings of the clients of a `Reader`. */
export function readSettings({ readMsMax }: Pick<StorageLimits, 'readMsMax'>): pg.ClientConfig {
	return { application_name: 'tributary read', options: limited('-c default_transaction_read_only=on -c jit=off', readMsMax).options };
}

/**
 * A few pipelined connections for reads. Short reads share one, because then the server reads many at a time and answers many at a time. What takes
 * longer has the least busy one of its site's share, and waits where that is busy. A later read reopens a connection that broke; between failed attempts
 * reads fail at once.
 */
export class Reader {
	readonly #options: ReaderOptions;
	readonly #slots: readonly Slot[];
	readonly #turns: ReadTurns<Slot>;
	#inFlight = 0;
	#closed = false;

	constructor(options: ReaderOptions) {
		this.#options = options;
		this.#slots = Array.from({ length: options.connections }, () => ({
			open: undefined,
			opening: undefined,
			inFlight: 0,
			longInFlight: 0,
			slowInFlight: 0,
			expectedMs: 0,
			progressMs: 0,
			failures: 0,
			notBeforeMs: 0,
			reads: new Set(),
			slowOf: new Map(),
		}));
		this.#turns = new ReadTurns(this.#slots, options.limits.readMsMax);
	}

	/**
	 * Opens all connections. Otherwise a database that later gives out no more of them would fail the reads that need another one. Never rejects:
	 * those that cannot be opened now are opened by reads, and tried here again.
	 */
	async openAll(): Promise<void> {
		await Promise.allSettled(this.#slots.map((slot) => slot.open ?? this.#opened(slot)));
	}

	/** False while no connection is open and none can be opened, though the database may answer others. */
	get isUp(): boolean {
		return this.#slots.some(({ open, failures }) => open !== undefined || failures === 0);
	}

	/** The condition of the replica that is read from; undefined where the primary is. */
	get replica(): ReplicaCondition | undefined {
		return undefined;
	}

	get inFlight(): number {
		return this.#inFlight;
	}

	/** Returns the number of those in flight that are not sent yet, because their turn has not come. */
	get waiting(): number {
		return this.#turns.waiting;
	}

	/** @throws Failure `unavailable` when the database cannot be reached, is too slow, or has too much to do already */
	run(statement: ReadStatement, values: readonly unknown[]): Promise<Cell[][]> {
		// Statements of different readers fail by themselves.
		return this.#onSlot(statement, values, async (wire) => (await wire.run(statement, values, true)).rows);
	}

	/** Sends a statement without values right before another one, on the same connection. @throws Failure like `run` */
	protected runBehind(
		first: ReadStatement,
		statement: ReadStatement,
		values: readonly unknown[],
	): Promise<[first: Cell[][], rows: Cell[][]]> {
		return this.#onSlot(statement, values, async (wire) => {
			const [before, after] = await Promise.all([wire.run(first, [], true), wire.run(statement, values, true)]);
			return [before.rows, after.rows];
		});
	}

	async #onSlot<T>(statement: ReadStatement, values: readonly unknown[], work: (wire: Wire) => Promise<T>): Promise<T> {
		if (this.#inFlight >= this.#options.limits.readStatementsMax) {
			throw new Failure('unavailable', 'too many reads are under way', { retryAfterSeconds: 1 });
		}
		const read = this.#turns.readOf(statement, values);
		this.#inFlight++;
		let slot: Slot | undefined;
		let open: OpenReader | undefined;
		let sentMs: number | undefined;
		try {
			slot = this.#turns.enter(read) ?? (await this.#turns.entered(read));
			open = slot.open ?? (await this.#opened(slot));
			sentMs = performance.now();
			return await work(open.wire);
		} catch (error) {
			this.#options.metrics.readFailures.inc();
			const trouble = troubleOf(error);
			const isAway = trouble === 'connection' || trouble === 'repeat';
			if (error instanceof Failure || !isAway || isReadOnly(error)) throw error;
			// PostgreSQL says that it ends the connection a moment before the socket closes: the next read must not go there.
			if (trouble === 'connection' && slot !== undefined && slot.open === open) {
				slot.open = undefined;
				open?.client.connection.stream.destroy();
			}
			throw new Failure('unavailable', 'the database does not answer', { cause: error, retryAfterSeconds: 2 });
		} finally {
			this.#inFlight--;
			if (slot !== undefined) this.#turns.leave(slot, read, sentMs);
		}
	}

	async #opened(slot: Slot): Promise<OpenReader> {
		if (slot.opening) return slot.opening;
		if (this.#closed || Date.now() < slot.notBeforeMs) {
			throw new Failure('unavailable', 'the database cannot be reached', { retryAfterSeconds: 2 });
		}
		slot.opening = this.#open(slot).finally(() => {
			slot.opening = undefined;
		});
		return slot.opening;
	}

	async #open(slot: Slot): Promise<OpenReader> {
		const { newClient, log, limits } = this.#options;
		const client = newClient();
		const forget = () => {
			if (slot.open?.client === client) slot.open = undefined;
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
		const wire = new Wire(client.connection.stream, limits.readMsMax + silentMsMax, this.#options.without);
		wire.runAside(keepFreedMemory);
		slot.open = { client, wire };
		return slot.open;
	}

	async close(): Promise<void> {
		this.#closed = true;
		await Promise.allSettled(this.#slots.map((slot) => slot.opening));
		await Promise.all(this.#slots.map((slot) => slot.open?.client.end()));
	}
}
