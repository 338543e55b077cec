import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { BatchRunner, delivery, patientChange } from '#test/support/change-sets.ts';
import { commitLosingProxy } from '#test/support/commit-losing-proxy.ts';
import { testDatabase } from '#test/support/database.ts';

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
