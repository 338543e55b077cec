import type pg from 'pg';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { systemTimers } from '#core/timers.ts';
import { BulkConnection, type BulkPurpose, bulkSettings } from './bulk-connection.ts';
import { Connection, limited, silentMsMax, wireSettings } from './connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import { newClient, newPool } from './database-hosts.ts';
import type { StorageLimits } from './limits.ts';
import type { StorageMetrics } from './metrics.ts';
import { pooled } from './pooling.ts';
import { Reader, readSettings } from './reader.ts';
import { PrimaryPositions } from './replica/primary-positions.ts';
import { ReplicaReader } from './replica/replica-reader.ts';
import { ReplicaWatch } from './replica/replica-watch.ts';

/** A database that works accepts a connection within milliseconds; then the opening is tried again. */
const connectMsMax = 5000;
/** The directory's statements and those of the node itself answer within milliseconds. */
const ownStatementMsMax = 10_000;
/** An idle connection of the pool is closed; a later request opens another. */
const idleMsMax = 5 * 60_000;
/** Only pages of the console need them where there is no replica. */
const consoleReadsMax = 2;

export interface DatabaseOptions {
	url: string;
	/** The URL of a replica that answers reads and searches; without it `url` is used. */
	readUrl?: string | undefined;
	limits: Pick<
		StorageLimits,
		| 'readConnectionsMax'
		| 'readStatementsMax'
		| 'readMsMax'
		| 'writeMsMax'
		| 'peopleConnectionsMax'
		| 'peopleWaitMsMax'
		| 'replicaWaitMsMax'
		| 'replicaLagMsMax'
	>;
	metrics: Pick<StorageMetrics, 'readFailures' | 'replicaReads' | 'replicaUp' | 'replicaLagSeconds' | 'replicaLagBytes'>;
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
		const { client, without } = pooled(this.url, bulkSettings(purpose));
		return BulkConnection.open(this.client(client), without);
	}

	/** Closes the lanes. The caller closes its bulk connection. */
	async close(): Promise<void> {
		this.#closed = true;
		await Promise.all([...this.#lanes].map((lane) => lane.close()));
	}

	protected pipelined(applicationName: string): Connection {
		return this.connection(this.url, { ...wireSettings(this.#writeMsMax), application_name: applicationName }, this.#writeMsMax);
	}

	protected connection(url: string, settings: pg.ClientConfig, statementMsMax: number): Connection {
		const { client, without } = pooled(url, settings);
		return new Connection(() => this.client(client, url), statementMsMax, without);
	}

	protected client(settings: pg.ClientConfig, url: string = this.url): pg.Client {
		if (this.#closed) throw new Failure('unavailable', 'the connections to the database are closed');
		return newClient(url, { connectionTimeoutMillis: connectMsMax, keepAlive: true, ...settings });
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
	/**
	 * Serves what never uses a replica: the console's reads, because a person who has merged two patients looks at the result at once, and where the
	 * objects of images lie, because they are moved as soon as the primary has it. It also serves the reads that a replica cannot answer.
	 */
	readonly currentReads: Reader;
	/** Compares the replica with the primary; undefined where there is none. */
	readonly replicaWatch: ReplicaWatch | undefined;
	readonly #comparing: readonly Connection[];

	constructor({ url, readUrl, limits, metrics, log }: DatabaseOptions) {
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
		const options = (from: string, connections: number) => {
			const { client, without } = pooled(from, readSettings(limits));
			return { newClient: () => this.client(client, from), without, connections, limits, metrics, log };
		};
		this.currentReads = new Reader(
			options(url, readUrl === undefined ? consoleReadsMax : Math.max(consoleReadsMax, limits.readConnectionsMax)),
		);
		metrics.replicaUp.set(1);
		if (readUrl === undefined) {
			this.reads = new Reader(options(url, limits.readConnectionsMax));
			this.replicaWatch = undefined;
			this.#comparing = [];
			return;
		}
		const comparing = { primary: this.#comparison(url), replica: this.#comparison(readUrl) };
		this.#comparing = Object.values(comparing);
		const positions = new PrimaryPositions(comparing.primary, systemTimers);
		const watch = new ReplicaWatch({ connection: comparing.replica, positions, limits, metrics, log, timers: systemTimers });
		this.replicaWatch = watch;
		this.reads = new ReplicaReader({
			...options(readUrl, limits.readConnectionsMax),
			...{ primary: this.currentReads, positions, watch, metrics },
		});
	}

	/** A connection on which nothing but short questions wait. */
	#comparison(url: string): Connection {
		const settings = {
			application_name: 'tributary replica',
			options: limited('-c default_transaction_read_only=on', ownStatementMsMax).options,
		};
		return this.connection(url, settings, ownStatementMsMax);
	}

	override async close(): Promise<void> {
		const others = [this.reads, this.currentReads, this.journal, this.indexing, this.people, this.access, ...this.#comparing];
		await Promise.all([super.close(), ...others.map((each) => each.close())]);
	}
}

/** Opens a separate pool for work outside a service: migrations, and the creation of the embedded database. */
export function openPool(url: string, settings: pg.PoolConfig): ConnectionPool {
	const pool = newPool(url, { keepAlive: true, ...settings });
	// A connection that breaks fails the statement under way and leaves the pool; without listeners it would end the process.
	pool.on('error', () => undefined);
	pool.on('connect', (client) => client.on('error', () => undefined));
	return new ConnectionPool(url, pool);
}
