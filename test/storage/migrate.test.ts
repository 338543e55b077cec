import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { migrate, pendingMigrations } from '#storage/migrate.ts';
import { testDatabase } from '#test/support/database.ts';

describe('migrations', () => {
	test('a migrated database lacks nothing and is left as it is', async () => {
		await using database = await testDatabase();
		assert.deepEqual(await pendingMigrations(database.url), []);
		assert.deepEqual(await migrate(database.url), { applied: [] });
	});
});
