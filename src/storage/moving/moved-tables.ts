import type { BulkConnection } from '../bulk-connection.ts';
import { inOrderOfReferences, quoted, schemaOf } from '../cut/tables.ts';

/** A table whose rows of one site move to another database. */
export interface MovedTable {
	name: string;
	/** Has the id of the site. */
	siteColumn: string;
	/** The columns of its primary key. */
	key: string[];
	/** Columns that are copied. Generated ones are computed again. */
	columns: string[];
	/** Columns that name a person, whose account has another id in another database. */
	people: string[];
	/** Rows refer to rows of it, so none is removed for a moment. */
	isReferred: boolean;
}

/** Tables of a site whose rows do not move, and why. All others that the catalogue has move. */
export const staysBehind: Readonly<Record<string, string>> = {
	audit_event: 'is linked in the chains of the database that recorded it, and would break there and here',
	bulk_job: 'has its files on the node that was asked',
	committed_batch: 'tells whether a transaction of this database was committed',
	feed_queue: 'counts what waits in a process',
	long_search: 'is an answer of a node that nobody asks elsewhere',
	sign_in_group_site: 'leads from a group of the provider of this installation',
	site_turn: 'goes with the switch, in its own way',
	viewer_token: 'is a link of some minutes to an address of this installation',
};

/** They say where a site stands in its own database. */
const ofTheDatabase: ReadonlySet<string> = new Set(['active', 'move_state', 'move_peer', 'moved_at', 'closed_until']);

/** A column that leads to the site by reference counts where there is no `site_id`. */
const tablesText = `
select c.relname,
	case when c.relname = 'site' then 'id' else coalesce(
		(select a.attname from pg_attribute a where a.attrelid = c.oid and a.attname = 'site_id' and not a.attisdropped),
		(select a.attname from pg_constraint f join pg_attribute a on a.attrelid = c.oid and a.attnum = f.conkey[1]
			where f.conrelid = c.oid and f.contype = 'f' and f.confrelid = to_regclass('site') limit 1)) end,
	coalesce((select json_agg(a.attname order by k.place) from pg_index i, unnest(i.indkey) with ordinality as k (number, place), pg_attribute a
		where i.indrelid = c.oid and i.indisprimary and a.attrelid = c.oid and a.attnum = k.number), '[]'),
	coalesce((select json_agg(a.attname) from pg_constraint f join pg_attribute a on a.attrelid = c.oid and a.attnum = f.conkey[1]
		where f.conrelid = c.oid and f.contype = 'f' and f.confrelid = to_regclass('app_user')), '[]'),
	exists (select from pg_constraint f where f.contype = 'f' and f.confrelid = c.oid)
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = current_schema() and c.relkind in ('r', 'p') and not c.relispartition`;

/** Reads from the catalogue which tables have rows of a site, each behind those that it refers to. */
export async function siteTables(connection: BulkConnection): Promise<MovedTable[]> {
	const found = new Map((await connection.cells(tablesText)).map((cells) => [String(cells[0]), cells]));
	const tables: MovedTable[] = [];
	for (const { name, columns } of await inOrderOfReferences(connection, (await schemaOf(connection)).tables)) {
		const [, siteColumn, key, people, isReferred] = found.get(name) ?? [];
		if (siteColumn === undefined || siteColumn === null) continue;
		tables.push({
			...{ name, siteColumn, isReferred: isReferred === 't' },
			key: JSON.parse(String(key)) as string[],
			people: JSON.parse(String(people)) as string[],
			columns: name === 'site' ? columns.filter((column) => !ofTheDatabase.has(column)) : columns,
		});
	}
	return tables;
}

export const movedTables = async (connection: BulkConnection): Promise<MovedTable[]> =>
	(await siteTables(connection)).filter(({ name }) => staysBehind[name] === undefined);

/** Ids of accounts in the other database, by those of the same people in this one. */
export type People = ReadonlyMap<string, string>;

/** How a side names the rows that move. */
export interface Side {
	connection: BulkConnection;
	/** The accounts of the target, by those of the source; undefined on the target. */
	people: People | undefined;
}

/** Writes a column as the target has it. */
export function expressionOf({ people }: Side, table: MovedTable, column: string): string {
	if (people === undefined || !table.people.includes(column)) return quoted(column);
	return `('${JSON.stringify(Object.fromEntries(people))}'::jsonb ->> ${quoted(column)}::text)::uuid`;
}

/** The rows of a site that move. A person without an account in the other database is no member there. */
export function rowsWhere(side: Side, table: MovedTable, siteId: string): string {
	const members = table.people.filter((column) => table.key.includes(column) && side.people !== undefined);
	return [`${quoted(table.siteColumn)} = '${siteId}'`, ...members.map((column) => `${expressionOf(side, table, column)} is not null`)].join(
		' and ',
	);
}
