import pg from 'pg';
import { createApiKey, digestSecret } from '#access/api-key.ts';
import { newId } from '#core/id.ts';

export interface PlainSite {
	id: string;
	/** The loopback address from which the site's client sends. */
	address: string;
	key: string;
}

/** Files of a corpus come from tests too, and state no time zone. */
const settings = { time_zone: 'UTC', processing_ids: ['P', 'T', 'D'] };

/** Many sites at once, written by statement: each with a key, and a client at a loopback address of its own. */
export async function insertSites(databaseUrl: string, count: number, also: readonly string[] = []): Promise<PlainSite[]> {
	const client = new pg.Client({ connectionString: databaseUrl });
	await client.connect();
	try {
		const owner = (await client.query<{ id: string }>('select id from app_user limit 1')).rows[0]?.id;
		// The comparison with an earlier release runs on its schema too.
		const { rowCount: hasSettings } = await client.query(
			"select from information_schema.columns where table_name = 'site' and column_name = 'settings'",
		);
		const sites: PlainSite[] = [];
		await client.query('begin');
		for (let index = 0; index < count; index++) {
			const { id: keyId, secret, key } = createApiKey();
			const address = `127.${1 + (index >> 14)}.${(index >> 7) & 127}.${(index & 127) + 1}`;
			const site = { id: newId(), address, key };
			await client.query('insert into site (id, slug, name) values ($1, $2, $2)', [site.id, `site-${site.id}`]);
			if (hasSettings) await client.query('update site set settings = $2 where id = $1', [site.id, settings]);
			await client.query('insert into site_turn (site_id) values ($1)', [site.id]);
			await client.query(
				`insert into integration_client (site_id, id, name, protocols, allowed_ips, also_events) values ($1, $2, 'sender', '{hl7-mllp}', array[$3], $4)`,
				[site.id, newId(), site.address, also],
			);
			await client.query('insert into api_key (id, site_id, owner_id, secret_hash) values ($1, $2, $3, $4)', [
				keyId,
				site.id,
				owner,
				digestSecret(secret),
			]);
			sites.push(site);
		}
		await client.query('update access_version set version = version + 1');
		await client.query('commit');
		return sites;
	} finally {
		await client.end();
	}
}
