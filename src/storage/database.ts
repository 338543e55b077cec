import pg from 'pg';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { BulkConnection, type BulkPurpose, bulkSettings } from './bulk-connection.ts';
import { Connection, silentMsMax, wireSettings } from './connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { StorageLimits } from './limits.ts';
import type { StorageMetrics } from './metrics.ts';
import { Reader, readSettings } from './reader.ts';

/** A database that works accepts a connection within milliseconds; then the opening is tried again. */
const connectMsMax = 5000;
/** The directory's statements and those of the node itself answer within milliseconds. */
const ownStatementMsMax = 10_000;
/** An idle connection of the pool is closed; a later request opens another. */
const idleMsMax = 5 * 60_000;

export interface DatabaseOptions {
	url: string;
	/** The URL of a replica that answers reads and searches; without it `url` is used. */
	readUrl?: string | undefined;
	limits: Pick<
		StorageLimits,
		'readConnectionsMax' | 'readStatementsMax' | 'readMsMax' | 'writeMsMax' | 'peopleConnectionsMax' | 'peopleWaitMsMax'
	>;
	metrics: Pick<StorageMetrics, 'readFailures'>;
	log: Log;
}

/** The access of a worker thread to the database: lanes, and connections for COPY. Nothing is opened before it is used. */
export class WorkerDatabase {
	readonly url: string;
	readonly #writeMsMax: number;
	readonly #lanes = new Set<Connection>();
	#closed = false;

	constructor(url: string, { writeMsMax }: Pick<StorageLimits, 'writeMsMax'>) {
		this.url = url;
		this.#writeMsMax = writeMsMax;
	}

	/** Returns a pipelined connection for one user only: the transaction of a batch holds it from `begin` to `commit`. */
	lane(): Connection {
		const lane = this.pipelined('tributary ingest');
		this.#lanes.add(lane);
		return lane;
	}

	/** Opens a connection for a COPY. @throws Failure `unavailable` when the database cannot be reached */
	async bulk(purpose: BulkPurpose): Promise<BulkConnection> {
		return BulkConnection.open(this.client(bulkSettings(purpose)));
	}

	/** Closes the lanes. The caller closes its bulk connection. */
	async close(): Promise<void> {
		this.#closed = true;
		await Promise.all([...this.#lanes].map((lane) => lane.close()));
	}

	protected pipelined(applicationName: string): Connection {
		const settings = { ...wireSettings(this.#writeMsMax), application_name: applicationName };
		return new Connection(() => this.client(settings), this.#writeMsMax);
	}

	protected client(settings: pg.ClientConfig, url: string = this.url): pg.Client {
		if (this.#closed) throw new Failure('unavailable', 'the connections to the database are closed');
		return new pg.Client({ connectionString: url, connectionTimeoutMillis: connectMsMax, keepAlive: true, ...settings });
	}
}

/** The only access of a process to the database. Nothing is opened before it is used, and nothing beyond the limits. */
export class Database extends WorkerDatabase {
	/** Serves requests of people, one statement or one transaction at a time: console, admin API, sign-in, command line. */
	readonly people: ConnectionPool;
	/** Serves only the access directory, so that access rights stay current however busy the other connections are. */
	readonly access: ConnectionPool;
	/** Serves the node's own notes: audit trail, unmatched messages, storage commitment, exports and imports. */
	readonly journal: Connection;
	/** Serves the index of elements alone, so that its steps delay nobody. */
	readonly indexing: Connection;
	/** Serves reads and searches of the FHIR and DICOM surfaces. */
	readonly reads: Reader;
	/** Serves the console's reads. It never uses a replica, because a person who has merged two patients looks at the result at once. */
	readonly currentReads: Reader;

	constructor({ url, readUrl = url, limits, metrics, log }: DatabaseOptions) {
		super(url, limits);
		this.people = openPool(url, {
			application_name: 'tributary administration',
			max: limits.peopleConnectionsMax,
			min: 1,
			idleTimeoutMillis: idleMsMax,
			connectionTimeoutMillis: limits.peopleWaitMsMax,
			query_timeout: limits.readMsMax + silentMsMax,
		});
		this.access = openPool(url, {
			application_name: 'tributary access',
			max: 1,
			idleTimeoutMillis: 0,
			connectionTimeoutMillis: connectMsMax,
			query_timeout: ownStatementMsMax,
		});
		this.journal = this.pipelined('tributary journal');
		this.indexing = this.pipelined('tributary index');
		const reader = (from: string, connections: number) =>
			new Reader({ newClient: () => this.client(readSettings(limits), from), connections, limits, metrics, log });
		this.reads = reader(readUrl, limits.readConnectionsMax);
		this.currentReads = reader(url, 2);
	}

	override async close(): Promise<void> {
		const others = [this.reads, this.currentReads, this.journal, this.indexing, this.people, this.access];
		await Promise.all([super.close(), ...others.map((each) => each.close())]);
	}
}

/** Opens a separate pool for work outside a service: migrations, and the creation of the embedded database. */
export function openPool(url: string, settings: pg.PoolConfig): ConnectionPool {
	const pool = new pg.Pool({ connectionString: url, keepAlive: true, ...settings });
	// A connection that breaks fails the statement under way and leaves the pool; without listeners it would end the process.
	pool.on('error', () => undefined);
	pool.on('connect', (client) => client.on('error', () => undefined));
	return new ConnectionPool(url, pool);
}
