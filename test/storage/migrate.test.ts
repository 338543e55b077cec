import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { migrate, pendingMigrations } from '#storage/migrate.ts';
import { migrationsIn } from '#storage/migrations.ts';
import { emptyDatabase, testDatabase } from '#test/support/database.ts';
import { schemaOf } from '#test/support/schema.ts';
import { ServiceProcess } from '#test/support/service-process.ts';

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
		assert.deepEqual(await migrate(database.url), { applied: [], newer: [] });
	});

	test('of two nodes that start together are applied once', async () => {
		await using database = await testDatabase();
		await using empty = await emptyDatabase();
		const pending = await pendingMigrations(empty.url);
		assert.notDeepEqual(pending, []);
		const [first, second] = await Promise.all([migrate(empty.url), migrate(empty.url)]);
		assert.deepEqual([...first.applied, ...second.applied], pending);
		assert.equal(await schemaOf(empty.url), await schemaOf(database.url));
	});

	test('make and find their tables in the schema of the role, also after the first of them', async () => {
		await using empty = await emptyDatabase();
		await execute(
			empty.url,
			`create schema apart; alter database "${new URL(empty.url).pathname.slice(1)}" set search_path = apart, public`,
		);
		const [first = '', ...others] = await pendingMigrations(empty.url);
		assert.deepEqual((await migrate(empty.url, { only: [first] })).applied, [first]);
		assert.deepEqual((await migrate(empty.url)).applied, others);
		assert.deepEqual(await migrate(empty.url), { applied: [], newer: [] });
		await execute(empty.url, 'select from apart.mikro_orm_migrations, apart.patient');
	});

	test('of a later release are worked with, or refused and named, as that release says', async () => {
		await using database = await testDatabase();
		await execute(database.url, "insert into mikro_orm_migrations (name, executed_at) values ('9999-later', now())");
		assert.deepEqual(await migrate(database.url), { applied: [], newer: ['9999-later'] });
		assert.deepEqual(await pendingMigrations(database.url), []);
		await using earlier = new ServiceProcess({ DATABASE_URL: database.url });
		await earlier.start();
		assert.match(earlier.output, /"newer":\["9999-later"\]/);
		for (const kept of ["'works for nodes that know 9998-between'", 'null']) {
			await execute(database.url, `comment on table mikro_orm_migrations is ${kept}`);
			await assert.rejects(
				migrate(database.url),
				/made by a newer version of Tributary \(9999-later\), and this one does not work with it/,
			);
			await assert.rejects(pendingMigrations(database.url), /newer version/);
		}
		const sentence = 'tributary: the database was made by a newer version of Tributary (9999-later), and this one does not work with it';
		for (const processes of ['1', '2']) {
			await using refused = new ServiceProcess({ DATABASE_URL: database.url, PROCESSES: processes });
			await assert.rejects(refused.start(), /the service ended with 1: /);
			const lines = refused.output.trimEnd().split('\n');
			assert.ok(lines.includes(sentence), refused.output);
			assert.deepEqual(
				lines.filter((line) => /"level":"(?:error|fatal)"|^\s+at /.test(line)),
				[],
				'one sentence says it',
			);
		}
	});

	test('are carried out one by one: one that fails leaves nothing of itself, keeps those before it, and keeps nobody waiting', async () => {
		await using empty = await emptyDatabase();
		const [first = '', ...others] = await pendingMigrations(empty.url);
		await execute(empty.url, 'create table mpps_session (id int)');
		await assert.rejects(migrate(empty.url), /already exists/);
		const left = await pendingMigrations(empty.url);
		assert.ok(left.length > 0 && !left.includes(first), left.join(', '));
		await execute(empty.url, 'drop table mpps_session');
		assert.deepEqual((await migrate(empty.url)).applied, left);
		assert.deepEqual(others.slice(-left.length), left);
		assert.equal(await schemaOf(empty.url), readFileSync(join(import.meta.dirname, 'schema.sql'), 'utf8'));
	});

	test('lead to the schema in schema.sql; `node test/run.mjs --update-schema test/storage/migrate.test.ts` writes it anew', async () => {
		await using database = await testDatabase();
		assert.equal(await schemaOf(database.url), readFileSync(join(import.meta.dirname, 'schema.sql'), 'utf8'));
	});
});

describe('the folder of migrations', () => {
	const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
	after(() => rmSync(folder, { recursive: true }));
	const given = async (files: Readonly<Record<string, string>>) => {
		for (const name of readdirSync(folder)) rmSync(join(folder, name));
		for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
		return migrationsIn(pathToFileURL(`${folder}/`));
	};

	test('is all that is run, in the order of the numbers', async () => {
		const files = readdirSync(join(import.meta.dirname, '../../migrations')).map((name) => name.replace('.ts', ''));
		assert.deepEqual(
			(await migrationsIn()).map(({ name }) => name),
			files.sort(),
		);
	});

	for (const [what, files, fault] of [
		['two migrations of one number', { '0001-one.ts': '', '0001-two.ts': '' }, /'0001-one\.ts' and '0001-two\.ts' have the same number/],
		['a file that is not named as a migration', { 'readme.md': '' }, /'readme\.md' is not/],
		['a file without a migration', { '0001-one.ts': 'export class One {}' }, /0001-one\.ts exports one migration/],
	] as const) {
		test(`is refused with ${what}`, async () => {
			await assert.rejects(given(files), fault);
		});
	}
});
