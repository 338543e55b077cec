import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { migrate } from '#storage/migrate.ts';
import { testDatabase } from '#test/support/database.ts';
import { insertResources } from '#test/support/stored-resources.ts';

test('names that were stored before get those without accents beside them, once', async () => {
	await using database = await testDatabase();
	const client = new pg.Client({ connectionString: database.url });
	await client.connect();
	const siteId = newId();
	const names = ['Müller', 'Rivers', '山田', ''];
	await insertResources(
		client,
		siteId,
		names.map((family) => ({ type: 'Patient' as const, id: newId(), text: JSON.stringify({ name: [{ family }] }) })),
	);
	await client.query(`update patient set name = split_part(name, E'\n', 1) where site_id = $1`, [siteId]);
	// Later functions use it.
	await client.query('alter function tributary_plain(text) rename to tributary_plain_before');
	await client.query("delete from mikro_orm_migrations where name = '0035-plain-names'");
	assert.deepEqual(await migrate(database.url), { applied: ['0035-plain-names'], newer: [] });
	const { rows } = await client.query<{ name: string }>('select name from patient where site_id = $1 order by id', [siteId]);
	assert.deepEqual(
		rows.map(({ name }) => name),
		['müller\nmuller', 'rivers', '山田', ''],
	);
	await client.end();
});
