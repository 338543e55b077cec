import { strict as assert } from 'node:assert';
import { createServer } from 'node:net';
import { after, before, describe, type TestContext, test } from 'node:test';
import pg from 'pg';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import { WaitedTooLong } from '#storage/read-turns.ts';
import type { Reader } from '#storage/reader.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { doorTo } from '#test/support/door.ts';
import { eventually } from '#test/support/eventually.ts';
import { administer as administerServer } from '#test/support/template.ts';
import type { Limits } from '../../src/limits.ts';

let database: TestDatabase;

before(async () => {
	database = await testDatabase();
});

after(() => database[Symbol.asyncDispose]());

function open(t: TestContext, options: { url?: string; connections?: number; limits?: Partial<Limits> } = {}): Reader {
	const door = doorTo(options.url ?? database.url, { readConnectionsMax: options.connections ?? 1, ...options.limits });
	t.after(() => door.close());
	return door.reads;
}

const unavailable = (error: unknown) => error instanceof Failure && error.code === 'unavailable' && error.retryAfterSeconds !== undefined;
const one = { name: 'one', text: 'select $1::integer' };

async function administer(text: string): Promise<void> {
	const client = new pg.Client({ connectionString: database.url });
	await client.connect();
	await client.query(text);
	await client.end();
}

describe('the connections for reads', () => {
	test('give what PostgreSQL writes, unconverted, and answers in the order of the questions', async (t) => {
		const reader = open(t);
		const rows = await Promise.all(Array.from({ length: 50 }, (_, index) => reader.run(one, [index])));
		assert.deepEqual(
			rows.flat(2),
			Array.from({ length: 50 }, (_, index) => String(index)),
		);
		const text = "select '{1,2}'::integer[], true, null, timestamptz '2026-01-02 03:04:05Z' at time zone 'UTC'";
		assert.deepEqual(await reader.run({ name: undefined, text }, []), [['{1,2}', 't', null, '2026-01-02 03:04:05']]);
	});

	test('a connection that could not be opened holds up no read that another can take', async (t) => {
		const reader = open(t, { connections: 2 });
		const name = new URL(database.url).pathname.slice(1);
		await administerServer(database.url, `alter database ${name} allow_connections false`);
		try {
			await assert.rejects(reader.run(one, [1]), unavailable);
		} finally {
			await administerServer(database.url, `alter database ${name} allow_connections true`);
		}
		for (const value of ['1', '2']) assert.deepEqual(await reader.run(one, [value]), [[value]]);
	});

	test('cannot write', async (t) => {
		const reader = open(t);
		await assert.rejects(
			reader.run({ name: undefined, text: "insert into site (id, slug, name) values (gen_random_uuid(), 'x', 'x')" }, []),
			/read-only/,
		);
	});

	test('a statement that fails does not touch its neighbours', async (t) => {
		const reader = open(t);
		const settled = await Promise.allSettled([
			reader.run(one, [1]),
			reader.run({ name: 'bad', text: 'select 1/$1::integer' }, [0]),
			reader.run(one, [2]),
		]);
		assert.deepEqual(
			settled.map(({ status }) => status),
			['fulfilled', 'rejected', 'fulfilled'],
		);
	});

	test('a read that takes too long is ended with `unavailable`', async (t) => {
		const reader = open(t, { limits: { readMsMax: 100 } });
		await assert.rejects(reader.run({ name: undefined, text: 'select pg_sleep(30)' }, []), unavailable);
		assert.deepEqual(await reader.run(one, [1]), [['1']]);
	});

	test('more reads than the limit are refused, and counted off when they are done', async (t) => {
		const reader = open(t, { limits: { readStatementsMax: 2 } });
		const running = [reader.run(one, [1]), reader.run(one, [2])];
		assert.equal(reader.inFlight, 2);
		await assert.rejects(reader.run(one, [3]), unavailable);
		await Promise.all(running);
		assert.equal(reader.inFlight, 0);
		assert.deepEqual(await reader.run(one, [3]), [['3']]);
	});

	test('a slow read holds up only those behind it on its own connection', async (t) => {
		const reader = open(t, { connections: 2 });
		const slow = reader.run({ name: undefined, text: 'select pg_sleep(2)' }, []);
		const order: string[] = [];
		await Promise.all([slow.then(() => order.push('slow')), reader.run(one, [1]).then(() => order.push('quick'))]);
		assert.deepEqual(order, ['quick', 'slow']);
	});

	test('a connection that PostgreSQL ends is opened again', async (t) => {
		const reader = open(t);
		const [row] = await reader.run({ name: undefined, text: 'select pg_backend_pid()' }, []);
		const waiting = assert.rejects(reader.run({ name: undefined, text: 'select pg_sleep(30)' }, []), unavailable);
		await administer(`select pg_terminate_backend(${row?.[0]})`);
		await waiting;
		assert.deepEqual(await reader.run(one, [1]), [['1']]);
	});
});

/** Statements about a site, as all statements of sites are: it is the first value. */
const slowly = { name: undefined, text: 'select $1::text, pg_sleep($2)' };
const quickly = { name: 'quickly', text: 'select $1::uuid' };
const [north, south, west] = [newId(), newId(), newId()];

describe('the shares of sites in the connections', () => {
	test('slow reads of one site leave connections to the reads of others, though nobody has seen those yet', async (t) => {
		const reader = open(t, { connections: 4 });
		const order: string[] = [];
		const slow = Array.from({ length: 8 }, () => reader.run(slowly, [north, 0.5]).then(() => order.push('slow')));
		const others = [south, west].map((site) => reader.run(quickly, [site]).then(() => order.push('quick')));
		await Promise.all(others);
		await Promise.all(Array.from({ length: 20 }, () => reader.run(quickly, [south])));
		assert.deepEqual(order, ['quick', 'quick']);
		await Promise.all(slow);
	});

	test('the slow reads of another site have their turn between those of one that has many', async (t) => {
		const reader = open(t, { connections: 1 });
		const order: string[] = [];
		await reader.run(slowly, [north, 0.1]);
		const one = (site: string, name: string) => reader.run(slowly, [site, 0.1]).then(() => order.push(name));
		await Promise.all([one(north, 'north'), one(north, 'north'), one(north, 'north'), one(south, 'south')]);
		assert.deepEqual(order, ['north', 'north', 'south', 'north']);
	});

	test('a read whose time is over before its turn comes is refused, and not begun', async (t) => {
		const reader = open(t, { limits: { readMsMax: 400 } });
		await assert.rejects(reader.run(slowly, [north, 30]), unavailable);
		const reads = Array.from({ length: 4 }, () => reader.run(slowly, [north, 30]));
		const settled = await Promise.allSettled(reads);
		const waited = settled.filter((each) => each.status === 'rejected' && each.reason instanceof WaitedTooLong);
		assert.ok(waited.length >= 2, `${waited.length} of 4`);
		assert.equal(reader.inFlight, 0);
		assert.deepEqual(await reader.run(quickly, [north]), [[north]]);
	});
});

describe('a database that is away', () => {
	test('reads fail at once between attempts to reach it, and work again when it is back', async (t) => {
		let attempts = 0;
		const front = createServer((socket) => {
			attempts++;
			socket.destroy();
		});
		await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
		t.after(() => front.close());
		const { port } = front.address() as { port: number };
		const reader = open(t, { url: `postgres://nobody@127.0.0.1:${port}/none` });
		await assert.rejects(reader.run(one, [1]), unavailable);
		assert.equal(attempts, 1);
		await Promise.all(Array.from({ length: 20 }, () => assert.rejects(reader.run(one, [1]), unavailable)));
		assert.ok(attempts <= 2, `${attempts} attempts`);
	});

	test('that gives out no more connections fails no read while one is open, and says when none is', async (t) => {
		const name = new URL(database.url).pathname.slice(1);
		const [opened, closed] = [open(t, { connections: 4 }), open(t, { connections: 2 })];
		await opened.openAll();
		await administerServer(database.url, `alter database ${name} allow_connections false`);
		try {
			await closed.openAll();
			assert.deepEqual([opened.isUp, closed.isUp], [true, false]);
			const many = await Promise.all(Array.from({ length: 40 }, (_, index) => opened.run(one, [index])));
			assert.equal(many.length, 40);
			await assert.rejects(closed.run(one, [1]), unavailable);
		} finally {
			await administerServer(database.url, `alter database ${name} allow_connections true`);
		}
		await eventually(async () => {
			await closed.openAll();
			return closed.isUp;
		}, 'the connections');
		assert.deepEqual(await closed.run(one, [1]), [['1']]);
	});

	test('a closed reader refuses', async (t) => {
		const reader = open(t);
		await reader.run(one, [1]);
		await reader.close();
		await assert.rejects(reader.run(one, [1]), unavailable);
	});
});
