import pg from 'pg';
import { type DatabaseHost, type DatabaseTls, readDatabaseUrl, type SessionAttributes } from '#core/database-url.ts';
import { plainTlsError, tlsOptions } from './database-tls.ts';

/** A server that works accepts a connection within milliseconds. One that is off must not hold up the others for long. */
const tryMsMax = 3000;

/** The state of a server in its own words. A standby is in recovery; a primary may be set to take no writes. */
interface ServerState {
	standby: boolean;
	readOnly: boolean;
}

/** Tells if the sessions of a server are those that a URL asks for, as libpq defines them. */
export function fits({ standby, readOnly }: ServerState, wanted: SessionAttributes): boolean {
	switch (wanted) {
		case 'read-write':
			return !standby && !readOnly;
		case 'read-only':
			return standby || readOnly;
		case 'primary':
			return !standby;
		case 'standby':
			return standby;
		default:
			return true;
	}
}

/** Asks a server what it is. @throws the driver's error when it cannot be reached in time */
export async function stateOfServer(url: string, host: DatabaseHost): Promise<ServerState> {
	const settings = { application_name: 'tributary host', connectionTimeoutMillis: tryMsMax, query_timeout: tryMsMax };
	const client = new DatabaseClient(url, settings, async () => host);
	// A connection that breaks fails the query; without a listener it would end the process.
	client.on('error', () => undefined);
	try {
		await client.connect();
		const text = "select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as read_only";
		const [row] = (await client.query<{ standby: boolean; read_only: boolean }>(text)).rows;
		return { standby: row?.standby === true, readOnly: row?.read_only === true };
	} finally {
		client.end().catch(() => undefined);
	}
}

/**
 * The servers of one URL. It tells which of them a new connection goes to: the one that fitted last, as long as it fits, else the first
 * in order that does. So a failover needs no restart: connections that broke are opened on the other server.
 */
export class DatabaseHosts {
	readonly #url: string;
	readonly #hosts: readonly DatabaseHost[];
	readonly #wanted: SessionAttributes;
	#last: DatabaseHost | undefined;
	#choosing: Promise<DatabaseHost> | undefined;

	constructor(url: string) {
		this.#url = url;
		const { hosts, wanted } = readDatabaseUrl(url);
		this.#hosts = hosts;
		// Whoever names several servers for one database means its primary.
		this.#wanted = wanted ?? (hosts.length > 1 ? 'read-write' : 'any');
	}

	/** Undefined for a URL of one server that may be whatever it is: then nothing is asked. */
	get choose(): (() => Promise<DatabaseHost>) | undefined {
		if (this.#hosts.length === 1 && this.#wanted === 'any') return undefined;
		return () => {
			this.#choosing ??= this.#chosen().finally(() => {
				this.#choosing = undefined;
			});
			return this.#choosing;
		};
	}

	async #chosen(): Promise<DatabaseHost> {
		const last = this.#last;
		const inOrder = last === undefined ? this.#hosts : [last, ...this.#hosts.filter((host) => host !== last)];
		const isPreferred = this.#wanted === 'prefer-standby';
		const wanted = isPreferred ? 'standby' : this.#wanted;
		let other: DatabaseHost | undefined;
		let failure: unknown;
		for (const host of inOrder) {
			try {
				if (fits(await stateOfServer(this.#url, host), wanted)) {
					this.#last = host;
					return host;
				}
				other ??= host;
			} catch (error) {
				failure = error;
			}
		}
		if (isPreferred && other !== undefined) {
			this.#last = other;
			return other;
		}
		throw failure ?? new Error(`none of the ${this.#hosts.length} servers of the database is ${this.#wanted}`);
	}
}

/** Connections of a thread to one URL share what they know of its servers. */
const known = new Map<string, DatabaseHosts>();

function hostsOf(url: string): DatabaseHosts {
	const found = known.get(url) ?? new DatabaseHosts(url);
	known.set(url, found);
	return found;
}

type Connected = (error: Error) => void;

/** A client of the driver that asks first which server of its URL it connects to, and encrypts as the URL says. */
class DatabaseClient extends pg.Client {
	readonly #tls: DatabaseTls | false | undefined;
	readonly #choose: (() => Promise<DatabaseHost>) | undefined;

	/** @param choose undefined for a URL of one server that may be whatever it is */
	constructor(url: string, settings: pg.ClientConfig, choose: (() => Promise<DatabaseHost>) | undefined) {
		const { first, tls } = readDatabaseUrl(url);
		super({ connectionString: first.href, ...settings, ...(tls === false && { ssl: false }) });
		this.#tls = tls;
		this.#choose = choose;
	}

	override connect(): Promise<pg.Client>;
	override connect(callback: Connected): void;
	override connect(callback?: Connected): Promise<pg.Client> | undefined {
		const plain = (error: Error) => plainTlsError(error, this, this.#tls);
		if (callback !== undefined) {
			this.#place().then(() => super.connect((error: Error) => callback(error && plain(error))), callback);
			return undefined;
		}
		return this.#place()
			.then(() => super.connect())
			.catch((error) => {
				throw plain(error);
			});
	}

	/** The driver reads these when it connects. A Unix socket does not leave the machine, and PostgreSQL has no TLS there. */
	async #place(): Promise<void> {
		if (this.#choose !== undefined) {
			const { host, port } = await this.#choose();
			this.host = host;
			this.port = port;
		}
		if (!this.#tls || this.host.startsWith('/')) return;
		const ssl = tlsOptions(this.#tls);
		const sslNegotiation = this.#tls.isDirect ? 'direct' : 'postgres';
		Object.assign(this, { ssl, sslNegotiation });
		Object.assign(this.connection, { ssl, sslNegotiation });
	}
}

/** Returns a client, not yet connected, for a URL of one server or of several. Every connection to a database begins here. */
export function newClient(url: string, settings: pg.ClientConfig): pg.Client {
	return new DatabaseClient(url, settings, hostsOf(url).choose);
}

/** Returns a pool of such clients. */
export function newPool(url: string, settings: pg.PoolConfig): pg.Pool {
	// The driver calls it with `new`, and takes what it returns.
	function Client(this: unknown, config: pg.ClientConfig): pg.Client {
		return newClient(url, config);
	}
	return new pg.Pool({ ...settings, Client: Client as unknown as new () => pg.ClientBase });
}
