import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import pg from 'pg';
import { migrate, pendingMigrations } from '#storage/migrate.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { schemaOf } from '#test/support/schema.ts';
import { administer, urlOf } from '#test/support/template.ts';

/** A database without a schema, beside the test's own. */
async function emptyDatabase(beside: string): Promise<TestDatabase> {
	const name = `${new URL(beside).pathname.slice(1)}_empty`;
	await administer(beside, `create database ${name}`);
	return { url: urlOf(beside, name), [Symbol.asyncDispose]: () => administer(beside, `drop database ${name} with (force)`) };
}

async function execute(url: string, statement: string): Promise<void> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	try {
		await client.query(statement);
	} finally {
		await client.end();
	}
}

describe('migrations', () => {
	test('a migrated database lacks nothing and is left as it is', async () => {
		await using database = await testDatabase();
		assert.deepEqual(await pendingMigrations(database.url), []);
		assert.deepEqual(await migrate(database.url), { applied: [] });
	});

	test('of two nodes that start together are applied once', async () => {
		await using database = await testDatabase();
		await using empty = await emptyDatabase(database.url);
		const pending = await pendingMigrations(empty.url);
		assert.notDeepEqual(pending, []);
		const [first, second] = await Promise.all([migrate(empty.url), migrate(empty.url)]);
		assert.deepEqual([...first.applied, ...second.applied], pending);
		assert.equal(await schemaOf(empty.url), await schemaOf(database.url));
	});

	test('are refused on a database of a newer version, which is named', async () => {
		await using database = await testDatabase();
		await execute(database.url, "insert into mikro_orm_migrations (name, executed_at) values ('9999-later', now())");
		await assert.rejects(migrate(database.url), /made by a newer version of Tributary \(9999-later\)/);
		await assert.rejects(pendingMigrations(database.url), /newer version/);
	});

	test('that fail leave nothing of themselves and keep nobody waiting', async () => {
		await using database = await testDatabase();
		await using empty = await emptyDatabase(database.url);
		await execute(empty.url, 'create table site (id int)');
		await assert.rejects(migrate(empty.url), /already exists/);
		await execute(empty.url, 'drop table site');
		const pending = await pendingMigrations(empty.url);
		assert.ok(pending.length > 0);
		assert.deepEqual((await migrate(empty.url)).applied, pending);
	});

	test('lead to the schema in schema.sql; `node test/run.mjs --update-schema test/storage/migrate.test.ts` writes it anew', async () => {
		await using database = await testDatabase();
		assert.equal(await schemaOf(database.url), readFileSync(join(import.meta.dirname, 'schema.sql'), 'utf8'));
	});
});
