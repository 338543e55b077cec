import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { firstIdOf } from '#storage/statements/administrative/search-messages.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';

let database: TestDatabase;
let client: pg.Client;
const siteId = newId();
const now = new Date();
/** The tenth of a month in UTC, so many months from now. */
const inMonths = (months: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 10);
const nameOf = (ms: number) => new Date(ms).toISOString().slice(0, 7).replace('-', '');

before(async () => {
	database = await testDatabase();
	client = new pg.Client({ connectionString: database.url });
	await client.connect();
});

after(async () => {
	await client.end();
	await database[Symbol.asyncDispose]();
});

async function rows<T = Record<string, string>>(text: string, values: unknown[] = []): Promise<T[]> {
	return (await client.query(text, values)).rows as T[];
}

async function audit(atMs: number): Promise<string> {
	const id = `${firstIdOf(atMs).slice(0, 14)}7${newId().slice(15)}`;
	await client.query("insert into audit_event (site_id, id, recorded_at, actor, action, subject) values ($1, $2, $3, 'a', 'b', 'c')", [
		siteId,
		id,
		new Date(atMs),
	]);
	return id;
}

async function partitionOf(id: string): Promise<string> {
	const [row] = await rows<{ name: string }>('select tableoid::regclass::text as name from audit_event where site_id = $1 and id = $2', [
		siteId,
		id,
	]);
	return row?.name ?? '';
}

const partitionsOf = async (table: string) =>
	(
		await rows<{ name: string }>('select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1', [
			table,
		])
	).map(({ name }) => name);

describe('tables that only grow', () => {
	test('have a partition for all before, for each month to come, and one for what fits none', async () => {
		const [first, second] = [nameOf(inMonths(1)), nameOf(inMonths(2))];
		for (const table of ['message_log', 'audit_event', 'resource_history']) {
			const expected = [`${table}_before_${first}`, `${table}_${first}`, `${table}_${second}`, `${table}_default`].sort();
			assert.deepEqual(await partitionsOf(table), expected);
		}
	});

	test('keep a row in the partition of the month that its id tells', async () => {
		assert.equal(await partitionOf(await audit(inMonths(-30))), `audit_event_before_${nameOf(inMonths(1))}`);
		assert.equal(await partitionOf(await audit(inMonths(2))), `audit_event_${nameOf(inMonths(2))}`);
		assert.equal(await partitionOf(await audit(inMonths(5))), 'audit_event_default');
	});

	test('take rows out of the default partition when the partition of their month is made', async () => {
		const [waiting, staying] = [await audit(inMonths(3)), await audit(inMonths(4))];
		assert.equal(await partitionOf(waiting), 'audit_event_default');
		assert.deepEqual(await rows('select ensure_month_partitions(3) as made'), [{ made: 3 }]);
		assert.equal(await partitionOf(waiting), `audit_event_${nameOf(inMonths(3))}`);
		assert.equal(await partitionOf(staying), 'audit_event_default');
		assert.deepEqual(await rows('select ensure_month_partitions(3) as made'), [{ made: 0 }]);
	});

	test('get each partition once when several nodes make them at the same time', async () => {
		const nodes = await Promise.all(
			[1, 2, 3].map(async () => {
				const node = new pg.Client({ connectionString: database.url });
				await node.connect();
				return node;
			}),
		);
		try {
			const made = await Promise.all(
				nodes.map(async (node) => (await node.query('select ensure_month_partitions(6) as made')).rows[0].made),
			);
			assert.deepEqual(made.sort(), [0, 0, 9]);
		} finally {
			await Promise.all(nodes.map((node) => node.end()));
		}
	});

	test('give a whole month back to the disk, and keep all else', async () => {
		const [gone, kept] = [await audit(inMonths(2)), await audit(inMonths(1))];
		await client.query(`drop table audit_event_${nameOf(inMonths(2))}`);
		assert.equal(await partitionOf(gone), '');
		assert.equal(await partitionOf(kept), `audit_event_${nameOf(inMonths(1))}`);
	});
});
