import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Connection } from '#storage/connection.ts';
import { WorkerDatabase } from '#storage/database.ts';
import { stateOf, troubleOf } from '#storage/sqlstate.ts';
import { testDatabase } from '#test/support/database.ts';
import { defaultLimits } from '../../src/limits.ts';

describe('a connection', () => {
	const echo = { name: 'echo', text: 'select $1::text, $2::bytea, $3::int, $4::bool' };

	async function connected(use: (connection: Connection, url: string) => Promise<void>): Promise<void> {
		await using database = await testDatabase();
		const door = new WorkerDatabase(database.url, defaultLimits);
		try {
			const connection = door.lane();
			await connection.open();
			await use(connection, database.url);
		} finally {
			await door.close();
		}
	}

	test('carries texts and bytes of any length', async () =>
		connected(async (connection) => {
			for (const text of ['', 'ä', '漢'.repeat(4096), 'é'.repeat(100_000), 'x'.repeat(3_000_000)]) {
				const bytes = Buffer.from(text);
				const [cells] = await connection.run(echo, [text, bytes, 7, true]);
				assert.ok(cells?.[0] === text && cells[1] === `\\x${bytes.toString('hex')}`);
				assert.deepEqual(cells.slice(2), ['7', 't']);
			}
			assert.deepEqual(await connection.run(echo, [null, null, null, undefined]), [[null, null, null, null]]);
			const list = ['a"b\\c', '', null, '{,}', 5];
			assert.deepEqual(await connection.runOnce('select unnest($1::text[])', [list]), [['a"b\\c'], [''], [null], ['{,}'], ['5']]);
		}));

	test('fails what stands behind a failed statement of a transaction, its COMMIT too, and goes on after a rollback', async () =>
		connected(async (connection) => {
			const begun = connection.control('begin');
			const sent = [connection.run({ name: 'broken', text: 'select 1 / $1::int' }, [0]), connection.run(echo, ['a', null, 1, true])];
			const commit = connection.control('commit');
			const outcomes = await Promise.allSettled([begun, ...sent, commit]);
			assert.deepEqual(
				outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : stateOf(outcome.reason))),
				['BEGIN', '22012', '25P02', 'ROLLBACK'],
			);
			await connection.recover('row');
			await connection.control('begin');
			assert.deepEqual(await connection.run(echo, ['b', null, 1, false]), [['b', null, '1', 'f']]);
			assert.equal(await connection.control('commit'), 'COMMIT');
		}));

	test('keeps statements apart that are in no transaction, though they are sent together', async () =>
		connected(async (connection) => {
			const outcomes = await Promise.allSettled([
				connection.runOnce('select 1 / $1::int', [0]),
				connection.runOnce('select $1::int', [5]),
				connection.runOnce('select no_such_column', []),
				connection.run(echo, ['c', null, 1, true]),
			]);
			assert.deepEqual(
				outcomes.map(({ status }) => status),
				['rejected', 'fulfilled', 'rejected', 'fulfilled'],
			);
		}));

	test('that the server ends is opened again', async () =>
		connected(async (connection) => {
			await assert.rejects(
				connection.runOnce('select pg_terminate_backend(pg_backend_pid())', []),
				(error) => troubleOf(error) === 'connection',
			);
			await connection.recover('connection');
			await connection.open();
			assert.deepEqual(await connection.runOnce('select 1', []), [['1']]);
		}));
});
