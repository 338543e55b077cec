import type { Readable } from 'node:stream';
import type { BulkConnection } from '../bulk-connection.ts';
import { type CutSchema, type CutTable, quoted, schemaOf, textSettings } from './tables.ts';

/** A transaction that waits longer for a table has met a migration: then the backup is repeated later. */
const lockWait = '60s';

/** Every row of all tables as it was at one moment. Several connections may read it. */
export class Snapshot {
	readonly schema: CutSchema;
	readonly takenAt: Date;
	/** `server_version` of PostgreSQL. */
	readonly serverVersion: string;
	readonly #name: string;
	readonly #connections: BulkConnection[];

	private constructor(given: { schema: CutSchema; takenAt: Date; serverVersion: string; name: string; connection: BulkConnection }) {
		this.schema = given.schema;
		this.takenAt = given.takenAt;
		this.serverVersion = given.serverVersion;
		this.#name = given.name;
		this.#connections = [given.connection];
	}

	/**
	 * Takes a snapshot. The tables are locked against being dropped or changed first, partitions included; everybody may read and write them
	 * meanwhile.
	 */
	static async take(connection: BulkConnection): Promise<Snapshot> {
		await connection.execute('begin transaction isolation level read committed read only', ...textSettings);
		const { tables } = await schemaOf(connection);
		await connection.execute('commit', 'begin transaction isolation level repeatable read read only', ...textSettings);
		await connection.execute(`set local lock_timeout = '${lockWait}'`);
		await connection.execute(`lock table ${tables.map(({ name }) => quoted(name)).join(', ')} in access share mode`);
		const [row] = await connection.cells("select pg_export_snapshot(), statement_timestamp()::text, current_setting('server_version')");
		const [name, at, version] = (row ?? []).map(String) as [string, string, string];
		const schema = await schemaOf(connection);
		return new Snapshot({ schema, takenAt: new Date(at), serverVersion: version, name, connection });
	}

	/** Lets another connection read the same rows. */
	async share(connection: BulkConnection): Promise<void> {
		this.#connections.push(connection);
		await connection.execute('begin transaction isolation level repeatable read read only', `set transaction snapshot '${this.#name}'`);
		await connection.execute(...textSettings);
	}

	/** The connections that read it, each for one COPY at a time. */
	get connections(): readonly BulkConnection[] {
		return this.#connections;
	}

	/** Ends the transactions, and closes the connections. */
	async close(): Promise<void> {
		await Promise.all(this.#connections.map((connection) => connection.close()));
	}
}

/** Returns the rows of a table in the text format of COPY. */
export function rowsOf(connection: BulkConnection, { name, columns }: CutTable): Readable {
	return connection.copyOut(`copy (select ${columns.map(quoted).join(', ')} from ${quoted(name)}) to stdout`);
}

/**
 * The keys of all objects that rows name, one a line: `i` with the object of an instance, `q` with one that is kept aside. Instances come
 * by site; keys hold no tab and no backslash, so the text format needs no unescaping.
 */
const namedText = `
copy (
	select 'i', i.object_key from imaging_instance i
	union all
	select 'q', c.object_key from imaging_conflict c
	where not exists (
		select from imaging_instance i
		where i.site_id = c.site_id and i.sop_instance_uid = c.sop_instance_uid and i.object_key = c.object_key)
) to stdout`;

export function namedObjects(connection: BulkConnection): Readable {
	return connection.copyOut(namedText);
}
