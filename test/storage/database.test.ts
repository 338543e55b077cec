import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import pg from 'pg';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import type { Database } from '#storage/database.ts';
import { openEntities, runInTransaction, Site } from '#storage/entities/index.ts';
import { advanceAccessVersion } from '#storage/statements/administrative/read-access.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { doorTo } from '#test/support/door.ts';
import { eventually } from '#test/support/eventually.ts';
import type { Limits } from '../../src/limits.ts';

let database: TestDatabase;

before(async () => {
	database = await testDatabase();
});

after(() => database[Symbol.asyncDispose]());

function open(t: TestContext, limits: Partial<Limits> = {}): Database {
	const door = doorTo(database.url, limits);
	t.after(() => door.close());
	return door;
}

/** Looks on from outside. */
async function outside<T>(text: string, values: unknown[] = []): Promise<T[]> {
	const client = new pg.Client({ connectionString: database.url });
	await client.connect();
	try {
		return (await client.query(text, values)).rows;
	} finally {
		await client.end();
	}
}

/** Connections of this database by what they say they are for. */
async function connections(): Promise<Record<string, number>> {
	const text = `select application_name as name, count(*)::int as open from pg_stat_activity
		where datname = current_database() and application_name like 'tributary %' group by 1 order by 1`;
	return Object.fromEntries((await outside<{ name: string; open: number }>(text)).map(({ name, open: count }) => [name, count]));
}

const one = { name: 'one', text: 'select 1 as one' };
const slow = { name: 'slow', text: 'select pg_sleep(0.2)' };
const unavailable = (text: RegExp) => (error: unknown) =>
	error instanceof Failure && error.code === 'unavailable' && text.test(error.message);

describe('the door to the database', () => {
	test('opens nothing before it is used, and closes everything', async () => {
		const door = doorTo(database.url);
		assert.deepEqual(await connections(), {});
		const lanes = [door.lane(), door.lane()];
		await Promise.all([
			door.people.rows(one, []),
			door.access.run(one, []),
			door.journal.runOpened(one, []),
			door.reads.run(one, []),
			door.currentReads.run(one, []),
			...lanes.map((lane) => lane.runOpened(one, [])),
		]);
		assert.deepEqual(await connections(), {
			'tributary access': 1,
			'tributary administration': 1,
			'tributary ingest': 2,
			'tributary journal': 1,
			'tributary read': 2,
		});
		await door.close();
		await eventually(async () => Object.keys(await connections()).length === 0, 'the end of all connections');
	});

	test('stays closed: whoever comes late is told so and opens nothing', async () => {
		const door = doorTo(database.url);
		await door.close();
		await assert.rejects(door.journal.runOpened(one, []), unavailable(/closed/));
		await assert.rejects(door.lane().runOpened(one, []), unavailable(/closed/));
		await assert.rejects(door.bulk('export'), unavailable(/closed/));
		await assert.rejects(door.people.rows(one, []), unavailable(/./));
		await assert.rejects(door.reads.run(one, []), unavailable(/./));
		await door.close();
	});

	test('has no more connections for people than the limit, however many ask', async (t) => {
		const door = open(t, { peopleConnectionsMax: 3 });
		await Promise.all(Array.from({ length: 12 }, () => door.people.rows(slow, [])));
		assert.equal((await connections())['tributary administration'], 3);
		assert.deepEqual(door.people.size, { open: 3, waiting: 0 });
	});

	test('lets nobody wait longer than the limit for a connection, and says what is in use', async (t) => {
		const door = open(t, { peopleConnectionsMax: 1, peopleWaitMsMax: 1000 });
		const { release } = await door.people.borrow();
		await assert.rejects(door.people.rows(one, []), unavailable(/all 1 connections to the database are in use/));
		release();
		assert.deepEqual(await door.people.rows(one, []), [{ one: 1 }]);
	});

	test('replaces a connection that the server ended, at once when it was idle', async (t) => {
		const door = open(t, { peopleConnectionsMax: 1 });
		await door.people.rows(one, []);
		await outside(
			"select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tributary administration' and datname = current_database()",
		);
		await eventually(() => door.people.size.open === 0, 'the loss of the connection');
		assert.deepEqual(await door.people.rows(one, []), [{ one: 1 }]);
	});

	test('replaces a connection that breaks while it is in use; only the statement under way fails', async (t) => {
		const door = open(t, { peopleConnectionsMax: 1 });
		const broken = door.people.rows({ text: 'select pg_terminate_backend(pg_backend_pid())' }, []);
		await assert.rejects(broken);
		assert.deepEqual(await door.people.rows(one, []), [{ one: 1 }]);
		assert.equal(door.people.size.open, 1);
	});

	test('keeps a connection whose statement was refused', async (t) => {
		const door = open(t, { peopleConnectionsMax: 1 });
		const backend = () => door.people.rows({ text: 'select pg_backend_pid() as pid' }, []);
		const before = await backend();
		await assert.rejects(door.people.rows({ text: 'select 1 / 0' }, []), /division by zero/);
		assert.deepEqual(await backend(), before);
	});

	test('ends a search that takes too long, and leaves neither a time nor a transaction on the connection', async (t) => {
		const door = open(t, { peopleConnectionsMax: 1 });
		const tooLong = (error: unknown) => error instanceof Failure && error.code === 'invalid' && /takes too long/.test(error.message);
		await assert.rejects(door.people.search({ text: 'select pg_sleep(60)' }, [], 50), tooLong);
		const state = "select current_setting('statement_timeout') as timeout, now() = statement_timestamp() as fresh";
		assert.deepEqual(await door.people.rows({ text: state }, []), [{ timeout: '0', fresh: true }]);
	});

	test('an unreachable server is said to be just that', async (t) => {
		const door = doorTo('postgresql://127.0.0.1:1/nowhere');
		t.after(() => door.close());
		for (const asked of [door.people.rows(one, []), door.access.rows(one, []), door.journal.runOpened(one, []), door.bulk('import')]) {
			await assert.rejects(asked, unavailable(/cannot be reached/));
		}
	});
});

describe('the unit of work', () => {
	test('is on the connections for people and leaves them open when it is closed', async (t) => {
		const door = open(t, { peopleConnectionsMax: 2 });
		const orm = await openEntities(door.people);
		const id = newId();
		await orm.em.fork().transactional(async (em) => {
			const fields = {
				updateCreates: true,
				checkReferences: true,
				instancePolicy: 'keep' as const,
				settings: {},
				waitingMax: null,
				associationsMax: null,
			};
			em.create(Site, {
				id,
				slug: 'west',
				name: 'West',
				aeTitle: null,
				defaultAuthority: null,
				active: true,
				createdAt: new Date(0),
				...fields,
			});
			await em.flush();
			await runInTransaction(em, advanceAccessVersion, []);
		});
		const site = await orm.em.fork().findOneOrFail(Site, { slug: 'west' });
		assert.deepEqual([site.id, site.createdAt.toISOString()], [id, '1970-01-01T00:00:00.000Z']);
		assert.deepEqual(await door.people.rows({ text: 'select created_at from site' }, []), [{ created_at: new Date(0) }]);
		await orm.close(true);
		assert.deepEqual(await connections(), { 'tributary administration': 1 });
		assert.deepEqual(await door.people.rows(one, []), [{ one: 1 }]);
	});

	test('carries out a statement in its transaction, so that both are undone together', async (t) => {
		const door = open(t);
		const orm = await openEntities(door.people);
		t.after(() => orm.close(true));
		const version = () => door.people.rows({ text: 'select version from access_version' }, []);
		const before = await version();
		const undone = orm.em.fork().transactional(async (em) => {
			await runInTransaction(em, advanceAccessVersion, []);
			throw new Error('undone');
		});
		await assert.rejects(undone, /undone/);
		assert.deepEqual(await version(), before);
		await assert.rejects(runInTransaction(orm.em.fork(), advanceAccessVersion, []), /there is no transaction/);
	});

	for (const statement of ['begin', 'select', 'commit', 'rollback']) {
		test(`gives a connection back that the server ended during a ${statement}: the next gets one, and the close does not wait`, async (t) => {
			const door = open(t, { peopleConnectionsMax: 1, peopleWaitMsMax: 1000 });
			const orm = await openEntities(door.people);
			t.after(() => orm.close(true));
			await orm.em.fork().find(Site, {});
			const { client, release } = await door.people.borrow();
			const send = client.query.bind(client) as (given: unknown) => Promise<unknown>;
			let ended = 0;
			const endedDuring = async (given: { text: string }) => {
				if (!given.text.startsWith(statement)) return send(given);
				ended++;
				return send('select pg_terminate_backend(pg_backend_pid())');
			};
			Object.assign(client, { query: endedDuring });
			release();
			const work = orm.em.fork().transactional(async (em) => {
				await em.find(Site, {});
				if (statement === 'rollback') throw new Error('undone');
			});
			await assert.rejects(work);
			assert.equal(ended, 1);
			assert.ok(Array.isArray(await orm.em.fork().find(Site, {})));
			assert.deepEqual(door.people.size, { open: 1, waiting: 0 });
		});
	}

	test('waits no longer for a connection than others do', async (t) => {
		const door = open(t, { peopleConnectionsMax: 1, peopleWaitMsMax: 1000 });
		const orm = await openEntities(door.people);
		t.after(() => orm.close(true));
		const { release } = await door.people.borrow();
		await assert.rejects(orm.em.fork().find(Site, {}), /all 1 connections to the database are in use/);
		release();
		assert.ok(Array.isArray(await orm.em.fork().find(Site, {})));
	});
});
