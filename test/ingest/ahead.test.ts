import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { Ingest } from '#ingest/worker.ts';
import { noNotes } from '#record/batch-notes.ts';
import type { Hl7v2Delivery } from '#record/delivery.ts';
import { adt } from '#test/support/adt.ts';
import { batchDatabase } from '#test/support/batch-database.ts';
import { defaultLimits } from '../../src/limits.ts';

/** Messages of a site, each of which gives its number to the same patient. */
function messages(siteId: string, ...numbers: number[]): Hl7v2Delivery[] {
	return numbers.map((number) => ({
		id: newId(),
		kind: 'hl7v2',
		siteId,
		clientId: newId(),
		surface: 'mllp',
		source: '192.0.2.1',
		receivedAtMs: Date.now(),
		bytes: Buffer.from(adt(String(number), '4711', number)),
		settings: {},
	}));
}

describe('a batch that is interpreted while the one before it is stored', () => {
	const suite = batchDatabase();

	function ingestOf(t: TestContext): Ingest {
		const databaseUrl = suite.pool.options.connectionString ?? '';
		const ingest = new Ingest({ databaseUrl, limits: defaultLimits, logLevel: 'silent', objectsFolder: undefined, writer: '' });
		t.after(() => ingest.close());
		return ingest;
	}

	const process = (ingest: Ingest, number: number, follows: number | undefined, deliveries: Hl7v2Delivery[]) =>
		ingest.processInOrder(0, deliveries, { number, follows }, noNotes);

	async function controlIds(siteId: string): Promise<string[]> {
		const { rows } = await suite.pool.query<{ id: string }>(
			'select control_id as id from message_log where site_id = $1 order by sequence',
			[siteId],
		);
		return rows.map(({ id }) => id);
	}

	test('is stored behind it', async (t) => {
		const ingest = ingestOf(t);
		const siteId = newId();
		await process(ingest, 1, undefined, messages(siteId, 1));
		const other = new pg.Client(suite.pool.options.connectionString);
		await other.connect();
		t.after(() => other.end());
		await other.query('begin');
		await other.query('select from site_turn where site_id = $1 for update', [siteId]);
		const first = process(ingest, 2, undefined, messages(siteId, 2, 3));
		const second = process(ingest, 3, 2, messages(siteId, 4, 5, 6, 7, 8, 9));
		// The second has been interpreted by now, and the first still waits for the turn of its site.
		await pause(300);
		const early = await controlIds(siteId);
		await other.query('rollback');
		assert.deepEqual(early, ['1']);
		const results = await Promise.all([first, second]);
		for (const result of results) assert.ok(typeof result === 'object' && !result.replies.includes(undefined));
		assert.deepEqual(await controlIds(siteId), ['1', '2', '3', '4', '5', '6', '7', '8', '9']);
		const { rows } = await suite.pool.query('select version, name from patient where site_id = $1', [siteId]);
		assert.deepEqual([rows.length, rows[0].version], [1, 9]);
		assert.match(rows[0].name, /number9/i);
	});

	test('is not carried out when a message of that was left over, and is stored when it comes again', async (t) => {
		const ingest = ingestOf(t);
		const siteId = newId();
		// Nobody knows what this is, so the message is neither stored nor answered.
		await suite.pool.query(`
			create function refuse_13() returns trigger language plpgsql as
				$$ begin if new.control_id = '13' then raise exception 'unknown' using errcode = 'XX999'; end if; return new; end $$;
			create trigger refuse_13 before insert on message_log for each row execute function refuse_13()`);
		t.after(() => suite.pool.query('drop function refuse_13 cascade'));
		const [first, second] = await Promise.all([
			process(ingest, 1, undefined, messages(siteId, 12, 13)),
			process(ingest, 2, 1, messages(siteId, 14, 15)),
		]);
		assert.ok(typeof first === 'object');
		assert.deepEqual(
			first.replies.map((reply) => reply?.outcome),
			['accepted', undefined],
		);
		assert.equal(second, 'behind');
		assert.deepEqual(await controlIds(siteId), ['12']);
		const again = await process(ingest, 3, undefined, messages(siteId, 14, 15));
		assert.ok(typeof again === 'object' && !again.replies.includes(undefined));
		assert.deepEqual(await controlIds(siteId), ['12', '14', '15']);
	});

	test('is not carried out by a thread that was not given the one before it', async (t) => {
		const ingest = ingestOf(t);
		const siteId = newId();
		assert.equal(await process(ingest, 5, 4, messages(siteId, 1)), 'behind');
		assert.equal(await process(ingest, 6, 5, messages(siteId, 2)), 'behind', 'nor behind one that was not carried out');
		assert.deepEqual(await controlIds(siteId), []);
	});
});
