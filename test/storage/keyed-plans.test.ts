import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { tableShapes } from '#fhir/resources/index.ts';
import { keyedPlans } from '#storage/connection.ts';
import { findRows } from '#storage/statements/find-rows.ts';
import { keepStoredVersions } from '#storage/statements/keep-versions.ts';
import { testDatabase } from '#test/support/database.ts';

test('rows are looked up by their primary key in a new database, too, of which the planner knows nothing yet', async () => {
	await using database = await testDatabase();
	const client = new pg.Client({ connectionString: database.url, options: keyedPlans });
	await client.connect();
	try {
		for (const shape of Object.values(tableShapes)) {
			for (const { text } of [findRows(shape), keepStoredVersions(shape)]) {
				await client.query(`prepare looked_up as ${text}`);
				const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute looked_up ('{}', '{}')`);
				const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
				assert.match(plan, new RegExp(`Index Scan using ${shape.table}_pkey`), plan);
				await client.query('deallocate looked_up');
			}
		}
	} finally {
		await client.end();
	}
});
