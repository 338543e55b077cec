import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { BatchRunner, delivery, patientChange } from '#test/support/change-sets.ts';
import { testDatabase } from '#test/support/database.ts';

/** Stands between the service and PostgreSQL, and loses the answer to a COMMIT that PostgreSQL has carried out. */
async function commitLosingProxy(databaseUrl: string): Promise<{ url: string; lost: () => number } & Disposable> {
	const target = new URL(databaseUrl);
	const socketPath = `${target.searchParams.get('host')}/.s.PGSQL.${target.port || 5432}`;
	let lost = 0;
	const sockets = new Set<Socket>();
	const server = createServer((client) => {
		const database = connect(socketPath);
		for (const socket of [client, database]) {
			sockets.add(socket);
			socket.on('error', () => undefined);
			socket.on('close', () => {
				client.destroy();
				database.destroy();
			});
		}
		client.pipe(database);
		database.on('data', (chunk) => {
			if (lost === 0 && chunk.includes('COMMIT\0')) {
				lost++;
				client.destroy();
			} else {
				client.write(chunk);
			}
		});
	});
	const port = await new Promise<number>((resolve) =>
		server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
	);
	const url = `postgresql://${target.username}@127.0.0.1:${port}${target.pathname}`;
	return {
		url,
		lost: () => lost,
		[Symbol.dispose]: () => {
			server.close();
			for (const socket of sockets) socket.destroy();
		},
	};
}

describe('a database that dies between COMMIT and its answer', () => {
	test('doubles nothing: the batch finds its own messages and answers them', async () => {
		await using database = await testDatabase();
		using proxy = await commitLosingProxy(database.url);
		const site = newId();
		const batch = [
			delivery(site, '1', [patientChange('A', { gender: 'male' })]),
			delivery(site, '2', [patientChange('A', { gender: 'other' })]),
		];
		await using runner = new BatchRunner(proxy.url);
		const replies = await runner.process(batch);
		assert.equal(proxy.lost(), 1);
		assert.deepEqual(
			replies.map((reply) => reply.acks.map((ack) => Buffer.from(ack).toString())),
			[['accepted|1|'], ['accepted|2|']],
		);
		const pool = new pg.Pool({ connectionString: database.url, max: 1 });
		assert.deepEqual((await pool.query('select gender, version from patient')).rows, [{ gender: 'other', version: 2 }]);
		assert.deepEqual((await pool.query('select count(*)::int as rows from message_log')).rows, [{ rows: 2 }]);
		await pool.end();
	});
});
