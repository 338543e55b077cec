import type pg from 'pg';

/**
 * Tables of which every server of a distributed PostgreSQL has a copy, and why. All others are distributed by the site. What gives access is small, is read
 * as a whole by every node, and names rows beyond a site: people, the site itself.
 */
export const referenceTables: Readonly<Record<string, string>> = {
	access_version: 'one row that every change of access moves on',
	admin_session: 'belongs to a person, who may look after several sites',
	alert: 'is of a node or the network',
	api_key: 'is looked up by its id before its site is known',
	app_user: 'a person may look after several sites',
	audit_batch: 'a link of a chain through all sites',
	audit_chain: 'chains of the audit trail through all sites',
	audit_forwarded: 'how far a receiver has each chain',
	audit_forwarder: 'one row for each receiver of the audit trail',
	configuration_apply: 'is of the network: a configuration that was applied to several sites',
	integration_client: 'an address is matched with the clients of all sites',
	notification: 'belongs to a person, a site or the network',
	notification_delivery: 'belongs to a notification',
	remote_ae: 'is read with the access rights of all sites',
	retention_run: 'is of the network: one run goes through all sites',
	saved_filter: 'belongs to a person, who may look after several sites',
	sign_in_failure: 'counts by account or address, before anybody is known',
	sign_in_group: 'groups of an identity provider, for several sites',
	sign_in_group_site: 'the sites of such a group',
	sign_in_policy: 'one row for the network',
	site: 'every site is known to every server',
	site_definition: 'belongs to the site, and changes with the access rights',
	site_member: 'leads from a person to sites',
	token_issuer: 'an issuer is matched before its site is known',
	unmatched_message: 'belongs to no site, or to the one that it is for',
	viewer_token: 'is looked up by its digest before its site is known',
};

export interface CataloguedTable {
	name: string;
	/** The columns of its primary key, in order. */
	key: string[];
	/** Columns of each further unique index. */
	uniques: string[][];
	/** The tables that it refers to, with the columns that do. */
	references: { to: string; columns: string[] }[];
	hasSite: boolean;
	/** Partitioned by month, too. */
	isByMonth: boolean;
}

export async function catalogue(client: pg.Client): Promise<CataloguedTable[]> {
	const { rows } = await client.query<CataloguedTable>(`
		select c.relname as name, c.relkind = 'p' as "isByMonth",
			exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'site_id' and a.attnotnull) as "hasSite",
			coalesce((select json_agg(a.attname order by k.place) from pg_index i, unnest(i.indkey) with ordinality as k (number, place), pg_attribute a
				where i.indrelid = c.oid and i.indisprimary and a.attrelid = c.oid and a.attnum = k.number), '[]') as key,
			coalesce((select json_agg((select json_agg(coalesce(a.attname, '(expression)') order by k.place) from unnest(i.indkey) with ordinality as k (number, place)
					left join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number and k.number > 0))
				from pg_index i where i.indrelid = c.oid and i.indisunique and not i.indisprimary), '[]') as uniques,
			coalesce((select json_agg(json_build_object('to', f.confrelid::regclass::text, 'columns',
					(select json_agg(a.attname order by k.place) from unnest(f.conkey) with ordinality as k (number, place), pg_attribute a
						where a.attrelid = c.oid and a.attnum = k.number)))
				from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'), '[]') as "references"
		from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname not like 'mikro_orm%'
		order by 1`);
	return rows;
}

/** The servers of the test's distribution. */
export const partitions = 4;

/** Makes every distributed table anew in a schema, in partitions by the hash of the site, with the same columns and indexes. */
export async function distribute(client: pg.Client, tables: readonly CataloguedTable[]): Promise<void> {
	await client.query('create schema distributed');
	for (const { name } of tables) {
		await client.query(`create table distributed.${name} (like public.${name} including defaults including generated including storage)
			partition by hash (site_id)`);
		for (let remainder = 0; remainder < partitions; remainder++) {
			await client.query(`create table distributed.${name}_of_${remainder} partition of distributed.${name}
				for values with (modulus ${partitions}, remainder ${remainder})`);
		}
		const { rows } = await client.query<{ definition: string; key: string | null }>(
			`select pg_get_indexdef(i.indexrelid) as definition, case when i.indisprimary then pg_get_constraintdef(k.oid) end as key
			from pg_index i left join pg_constraint k on k.conindid = i.indexrelid and k.contype = 'p' where i.indrelid = $1::regclass`,
			[`public.${name}`],
		);
		for (const { definition, key } of rows) {
			const moved = definition.replace(/ ON (?:ONLY )?public\.(\w+) /, ' ON distributed.$1 ');
			await client.query(key === null ? moved : `alter table distributed.${name} add ${key}`);
		}
	}
	const { rows: views } = await client.query<{ name: string; definition: string }>(
		"select viewname as name, definition from pg_views where schemaname = 'public'",
	);
	await client.query('set search_path to distributed, public');
	for (const { name, definition } of views) await client.query(`create view distributed.${name} as ${definition}`);
}
