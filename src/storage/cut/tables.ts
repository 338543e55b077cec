import type { BulkConnection } from '../bulk-connection.ts';

/** A table whose rows belong to a cut. A partitioned one stands for its partitions. */
export interface CutTable {
	name: string;
	/** Columns that are written. Generated ones are computed again. */
	columns: string[];
}

/** A partition as the catalogue describes it. */
export interface CutPartition {
	parent: string;
	name: string;
	/** `FOR VALUES FROM (…) TO (…)`, or `DEFAULT`. */
	bound: string;
	/** Storage options such as `toast_tuple_target=8160`. */
	options: string[];
}

export interface CutSequence {
	name: string;
	last: string;
}

/** Everything about the tables of a database that a cut needs besides their rows. */
export interface CutSchema {
	/** The names of the migrations that made it, in their order. */
	migrations: string[];
	tables: CutTable[];
	partitions: CutPartition[];
	sequences: CutSequence[];
}

/** The list of migrations is made anew by the migrations themselves. */
const ofMigrations = `relname like 'mikro\\_orm\\_%'`;

const tablesText = `
select c.relname, array_to_json(array_agg(a.attname order by a.attnum))
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
where n.nspname = current_schema() and c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p' and not c.${ofMigrations}
	and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
group by c.relname
order by c.relname`;

const partitionsText = `
select p.relname, c.relname, pg_get_expr(c.relpartbound, c.oid), coalesce(array_to_json(c.reloptions), '[]')
from pg_inherits i
join pg_class c on c.oid = i.inhrelid
join pg_class p on p.oid = i.inhparent
join pg_namespace n on n.oid = p.relnamespace
where n.nspname = current_schema() and p.relkind = 'p' and c.relispartition
order by p.relname, c.relname`;

const sequencesText = `
select sequencename, last_value::text from pg_sequences s
where s.schemaname = current_schema() and s.last_value is not null and not s.sequencename like 'mikro\\_orm\\_%'
order by 1`;

const referencesText = `
select distinct c.relname, f.relname
from pg_constraint k
join pg_class c on c.oid = k.conrelid
join pg_class f on f.oid = k.confrelid
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = current_schema() and k.contype = 'f' and k.conrelid <> k.confrelid and not c.relispartition`;

/** Reads from the catalogue what the schema of the connection has. */
export async function schemaOf(connection: BulkConnection): Promise<CutSchema> {
	const migrations = await connection.cells('select name from mikro_orm_migrations order by name');
	const tables = await connection.cells(tablesText);
	const partitions = await connection.cells(partitionsText);
	const sequences = await connection.cells(sequencesText);
	return {
		migrations: migrations.map(([name]) => String(name)),
		tables: tables.map(([name, columns]) => ({ name: String(name), columns: JSON.parse(String(columns)) as string[] })),
		partitions: partitions.map(([parent, name, bound, options]) => ({
			...{ parent: String(parent), name: String(name), bound: String(bound) },
			options: JSON.parse(String(options)) as string[],
		})),
		sequences: sequences.map(([name, last]) => ({ name: String(name), last: String(last) })),
	};
}

/**
 * Returns the tables in an order in which each comes behind those that it refers to. A table that refers to itself is filled by one
 * statement, at whose end PostgreSQL looks.
 * @throws Error when tables refer to each other in a circle
 */
export async function inOrderOfReferences(connection: BulkConnection, tables: readonly CutTable[]): Promise<CutTable[]> {
	const needs = new Map<string, Set<string>>();
	for (const [from, to] of await connection.cells(referencesText)) {
		const needed = needs.get(String(from)) ?? new Set();
		needs.set(String(from), needed.add(String(to)));
	}
	const ordered: CutTable[] = [];
	const done = new Set<string>();
	for (let waiting = [...tables]; waiting.length > 0; ) {
		const present = new Set(waiting.map(({ name }) => name));
		const ready = waiting.filter(({ name }) => [...(needs.get(name) ?? [])].every((other) => done.has(other) || !present.has(other)));
		if (ready.length === 0) throw new Error(`the tables ${waiting.map(({ name }) => name).join(', ')} refer to each other in a circle`);
		for (const table of ready) done.add(table.name);
		ordered.push(...ready);
		waiting = waiting.filter(({ name }) => !done.has(name));
	}
	return ordered;
}

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** The texts of COPY depend on these. */
export const textSettings = [
	"set local datestyle = 'ISO, YMD'",
	"set local intervalstyle = 'iso_8601'",
	"set local timezone = 'UTC'",
	"set local bytea_output = 'hex'",
	'set local extra_float_digits = 3',
	'set local statement_timeout = 0',
	'set local idle_in_transaction_session_timeout = 0',
];
