import type { BulkConnection } from '../bulk-connection.ts';
import { quoted } from '../cut/tables.ts';
import { expressionOf, type MovedTable, rowsWhere, type Side } from './moved-tables.ts';

/** Rows are compared in so many groups. More would only make the lists longer: with a million rows, sixteen are in one. */
const buckets = 65_536;

/** The number of rows and the sum of their digests, by bucket. */
export type Digests = ReadonlyMap<string, string>;

const listed = (side: Side, table: MovedTable, columns: readonly string[]) =>
	columns.map((column) => expressionOf(side, table, column)).join(', ');

/** The bucket of a row, by its key. Both sides compute it alike. */
const bucketOf = (side: Side, table: MovedTable) => `(hashtextextended(row(${listed(side, table, table.key)})::text, 0) & ${buckets - 1})`;

/** Reads a digest of each bucket. Texts of both sides are alike by `textSettings`. */
export async function digestsOf(side: Side, table: MovedTable, siteId: string): Promise<Digests> {
	const rows = await side.connection.cells(`
		select ${bucketOf(side, table)}, count(*) || ' ' || sum(hashtextextended(row(${listed(side, table, table.columns)})::text, 1)::numeric)
		from ${quoted(table.name)} where ${rowsWhere(side, table, siteId)} group by 1`);
	return new Map(rows.map(([bucket, digest]) => [String(bucket), String(digest)]));
}

export const rowCount = (digests: Digests): number => [...digests.values()].reduce((sum, digest) => sum + Number(digest.split(' ')[0]), 0);

/** Returns the buckets of which one side has other rows than the other. */
export function differing(one: Digests, other: Digests): string[] {
	const all = new Set([...one.keys(), ...other.keys()]);
	return [...all].filter((bucket) => one.get(bucket) !== other.get(bucket));
}

/** Selects the rows of buckets; of all where they are undefined. */
const within = (side: Side, table: MovedTable, siteId: string, chosen: readonly string[] | undefined) =>
	`${rowsWhere(side, table, siteId)}${chosen === undefined ? '' : ` and ${bucketOf(side, table)} = any ('{${chosen.join(',')}}'::bigint[])`}`;

/**
 * Makes the rows of some buckets those of the source, in a transaction that the caller has begun on the target. Rows that are no more go.
 * @returns the number of rows that were sent
 */
export async function copyBuckets(
	source: Side,
	target: Side,
	table: MovedTable,
	{ siteId, chosen, isEmpty }: { siteId: string; chosen: readonly string[]; isEmpty: boolean },
): Promise<number> {
	const columns = table.columns.map(quoted).join(', ');
	const wanted = isEmpty ? undefined : chosen;
	const text = `copy (select ${listed(source, table, table.columns)} from ${quoted(table.name)} where ${within(source, table, siteId, wanted)}) to stdout`;
	const rows = source.connection.copyOut(text);
	if (isEmpty) return target.connection.copyIn(`copy ${quoted(table.name)} (${columns}) from stdin`, rows);
	const moving = `create temporary table moving on commit drop as select ${columns} from ${quoted(table.name)} limit 0`;
	await target.connection.execute(moving);
	const sent = await target.connection.copyIn(`copy moving (${columns}) from stdin`, rows);
	const gone = `delete from ${quoted(table.name)} where ${within(target, table, siteId, chosen)}`;
	const insert = `insert into ${quoted(table.name)} (${columns}) select ${columns} from moving`;
	if (!table.isReferred) await target.connection.execute(gone, insert);
	else {
		const key = table.key.map(quoted).join(', ');
		const others = table.columns.filter((column) => !table.key.includes(column));
		const changed = others.map((column) => `${quoted(column)} = excluded.${quoted(column)}`).join(', ');
		await target.connection.execute(
			`${gone} and (${key}) not in (select ${key} from moving)`,
			`${insert} on conflict (${key}) do update set ${changed}`,
		);
	}
	return sent;
}

/** Removes the rows of a site from tables, each before those that it refers to. */
export async function removeRows(connection: BulkConnection, tables: readonly MovedTable[], siteId: string): Promise<void> {
	for (const { name, siteColumn } of [...tables].reverse())
		await connection.execute(`delete from ${quoted(name)} where ${quoted(siteColumn)} = '${siteId}'`);
}

/** Counts the rows of a site and their bytes. */
export async function sizeOf({ connection, people }: Side, table: MovedTable, siteId: string): Promise<{ rows: number; bytes: number }> {
	const [row] = await connection.cells(
		`select count(*), coalesce(sum(pg_column_size(t.*)), 0) from ${quoted(table.name)} t where ${rowsWhere({ connection, people }, table, siteId)}`,
	);
	return { rows: Number(row?.[0]), bytes: Number(row?.[1]) };
}
