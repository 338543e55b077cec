import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { migrate, pendingMigrations } from '#storage/migrate.ts';
import { testDatabase } from '#test/support/database.ts';
import { schemaOf } from '#test/support/schema.ts';

describe('migrations', () => {
	test('a migrated database lacks nothing and is left as it is', async () => {
		await using database = await testDatabase();
		assert.deepEqual(await pendingMigrations(database.url), []);
		assert.deepEqual(await migrate(database.url), { applied: [] });
	});

	test('lead to the schema in schema.sql; `node test/run.mjs --update-schema test/storage/migrate.test.ts` writes it anew', async () => {
		await using database = await testDatabase();
		assert.equal(await schemaOf(database.url), readFileSync(join(import.meta.dirname, 'schema.sql'), 'utf8'));
	});
});
