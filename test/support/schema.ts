import pg from 'pg';

/** The schema as SQL-like text, from the catalog alone: tables with their columns, constraints and storage, then indexes. Partitions are left out. */
export async function schemaOf(databaseUrl: string): Promise<string> {
	const client = new pg.Client({ connectionString: databaseUrl });
	await client.connect();
	try {
		const { rows: tables } = await client.query(tablesQuery);
		const { rows: indexes } = await client.query(indexesQuery);
		const texts = tables.map(
			({ name, lines, options, parted }) =>
				`create table ${name} (\n\t${lines.join(',\n\t')}\n)${parted ? ` partition by ${parted}` : ''}${options ? ` with (${options})` : ''};`,
		);
		return `${[...texts, ...indexes.map(({ definition }) => `${definition};`)].join('\n\n')}\n`;
	} finally {
		await client.end();
	}
}

const tablesQuery = `
select c.relname as name, array_to_string(c.reloptions, ', ') as options, pg_get_partkeydef(c.oid) as parted,
	(select array_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
		|| case when a.attnotnull then ' not null' else '' end
		|| coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
		|| case when a.attstorage <> t.typstorage then ' storage ' || a.attstorage::text else '' end order by a.attnum)
		from pg_attribute a join pg_type t on t.oid = a.atttypid
		left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
		where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)
	|| coalesce((select array_agg(pg_get_constraintdef(k.oid) order by k.contype desc, pg_get_constraintdef(k.oid))
		from pg_constraint k where k.conrelid = c.oid and k.contype <> 'n'), '{}') as lines
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition and c.relname not like 'mikro_orm%'
order by c.relname`;

const indexesQuery = `
select pg_get_indexdef(i.indexrelid) as definition
from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'public' and not c.relispartition and c.relname not like 'mikro_orm%'
	and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)
order by 1`;
