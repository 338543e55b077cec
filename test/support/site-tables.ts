/** A service or a database that can be asked for rows. */
export interface Asked {
	rows<T extends object>(text: string, values?: unknown[]): Promise<T[]>;
}

/** Lists the tables whose rows belong to a site. */
export async function siteTables(asked: Asked): Promise<string[]> {
	const tables = await asked.rows<{ name: string }>(
		`select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
		  where a.attname = 'site_id' and not a.attisdropped and c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
		  order by 1`,
	);
	return tables.map(({ name }) => name);
}

/**
 * The number of rows and the sum of a digest of each: equal only if no row differs.
 * @param from a table, and which of its rows
 */
export async function digestOf(asked: Asked, from: string, values: unknown[] = []): Promise<string> {
	const [row] = await asked.rows<{ digest: string }>(
		`select count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) as digest from (select * from ${from}) t`,
		values,
	);
	return row?.digest ?? '';
}

/** Tables that a process writes behind its answers, so that they may change a little later. */
export const writtenBehind: readonly string[] = [
	'audit_event',
	'audit_batch',
	'api_key',
	'search_entry',
	'search_progress',
	'long_search',
	'feed_hour',
	'feed_queue',
];
