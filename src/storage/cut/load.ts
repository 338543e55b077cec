import type { BulkConnection } from '../bulk-connection.ts';
import { type CutPartition, type CutSchema, type CutTable, inOrderOfReferences, quoted, schemaOf, textSettings } from './tables.ts';

/** Bounds come out of the catalogue in these forms only. */
const boundPattern = /^(?:DEFAULT|FOR VALUES FROM \((?:MINVALUE|'[\w:.+ -]*')\) TO \((?:MAXVALUE|'[\w:.+ -]*')\))$/;
const optionPattern = /^[a-z_.]+=[\w.]+$/;

/** A database that is about to take the rows of a cut. */
export interface Loading {
	connection: BulkConnection;
	schema: CutSchema;
	/** Returns the rows of a table in the text format of COPY. */
	rows(table: CutTable): AsyncIterable<Uint8Array>;
	loaded(table: CutTable, rows: number): void;
}

/** Tells whether the schema of the connection has a table of the product. */
export async function hasTables(connection: BulkConnection): Promise<boolean> {
	const [row] = await connection.cells(`select to_regclass('mikro_orm_migrations') is not null`);
	return row?.[0] === 't';
}

/** Tells whether anybody has used the database: it has a site, a user or an audited event. Settings that migrations write do not count. */
export async function isUsed(connection: BulkConnection): Promise<boolean> {
	for (const table of ['site', 'app_user', 'audit_event']) {
		const [there] = await connection.cells('select to_regclass($1) is not null', [table]);
		if (there?.[0] !== 't') continue;
		const [row] = await connection.cells(`select exists (select from ${quoted(table)})`);
		if (row?.[0] === 't') return true;
	}
	return false;
}

/** Counts the connections of nodes: commands have others. */
export async function otherNodes(connection: BulkConnection): Promise<number> {
	const [row] = await connection.cells(
		`select count(*) from pg_stat_activity where datname = current_database() and application_name in ('tributary ingest', 'tributary access')`,
	);
	return Number(row?.[0]);
}

/** Removes all that the current schema has: tables with their rows, functions, extensions that were made in it. */
export async function clearSchema(connection: BulkConnection): Promise<void> {
	const [row] = await connection.cells('select current_schema()');
	const schema = quoted(String(row?.[0]));
	await connection.execute('begin', `drop schema ${schema} cascade`, `create schema ${schema}`, 'commit');
}

/**
 * Fills the tables, which the migrations of the cut have made, in one transaction: all rows, or none. Tables that the cut has and the schema does
 * not were made by somebody else; they are returned, and left out.
 */
export async function load({ connection, schema, rows, loaded }: Loading): Promise<string[]> {
	await connection.execute('begin', ...textSettings);
	const present = new Map((await schemaOf(connection)).tables.map((table) => [table.name, table]));
	const known = schema.tables.filter(({ name }) => present.has(name));
	await connection.execute(`truncate ${[...present.keys()].map(quoted).join(', ')}`);
	await layOut(connection, schema.partitions);
	for (const table of await inOrderOfReferences(connection, known)) {
		const columns = table.columns.map(quoted).join(', ');
		loaded(table, await connection.copyIn(`copy ${quoted(table.name)} (${columns}) from stdin`, rows(table)));
	}
	for (const { name, last } of schema.sequences) {
		await connection.cells(`select setval(to_regclass($1), $2::bigint) where to_regclass($1) is not null`, [quoted(name), last]);
	}
	// Nodes may still have in memory what another database said.
	await connection.execute('update access_version set version = version + 1');
	const ended = await connection.control('commit');
	if (ended !== 'COMMIT') throw new Error('PostgreSQL did not commit the rows of the backup');
	await connection.execute('analyze');
	return schema.tables.filter(({ name }) => !present.has(name)).map(({ name }) => name);
}

/** Gives partitioned tables, which are empty, the partitions that the cut has. */
async function layOut(connection: BulkConnection, partitions: readonly CutPartition[]): Promise<void> {
	const wanted = new Set(partitions.map(({ parent }) => parent));
	for (const { parent, name } of (await schemaOf(connection)).partitions) {
		if (wanted.has(parent)) await connection.execute(`drop table ${quoted(name)}`);
	}
	for (const partition of partitions) await makePartition(connection, partition);
}

/** Makes a partition as another database describes it. */
export async function makePartition(connection: BulkConnection, { parent, name, bound, options }: CutPartition): Promise<void> {
	if (!boundPattern.test(bound) || !options.every((option) => optionPattern.test(option)))
		throw new Error(`the partition ${name} is described in a way that is not known`);
	const like = `(like ${quoted(parent)} including defaults including constraints including storage)`;
	const stored = options.length === 0 ? '' : ` with (${options.join(', ')})`;
	await connection.execute(`create table ${quoted(name)} ${like}${stored}`);
	await connection.execute(`alter table ${quoted(parent)} attach partition ${quoted(name)} ${bound}`);
}
