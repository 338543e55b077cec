import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { beginBatch, keptRows } from '#storage/statements/administrative/retention.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { nodesOf, type PlanNode } from '#test/support/plan.ts';

const [siteId, otherSiteId] = [newId(), newId()];
const rowsMax = 100;
let database: TestDatabase;
let client: pg.Client;

/** A row every six minutes for two sites in turn, so about half of 40,000 are older than 80 days. */
const moment = "now() - (40000 - n) * interval '6 minutes'";
const seed = `
insert into accepted_message (site_id, client_id, control_id, digest, message_id, accepted_at)
select (:sites)[1 + n % 2], (:sites)[1], n::text, md5(n::text)::uuid, gen_random_uuid(), ${moment} from generate_series(1, 40000) n;
insert into message_log (site_id, id, sequence, surface, client_id, source, received_at, committed_at, message_type, control_id, outcome, bytes, ack)
select (:sites)[1 + n % 2], (lpad(to_hex((extract(epoch from ${moment}) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
	n, 'mllp', (:sites)[1], '', now(), now(), 'ADT^A08', n::text, 'accepted', 'x', 'x' from generate_series(1, 40000) n;
insert into resource_history (site_id, resource_type, id, version, last_updated, resource)
select (:sites)[1 + n % 2], (array['Patient', 'Observation', 'Encounter'])[1 + n % 3], gen_random_uuid(), 1, ${moment}, 'x' from generate_series(1, 40000) n;
insert into unmatched_message (id, received_at, surface, source, reason, message_type, control_id, bytes, site_id)
select (lpad(to_hex((extract(epoch from ${moment}) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, ${moment}, 'mllp', '',
	'no-sender', '', '', 'x', (:sites)[1 + n % 2] from generate_series(1, 40000) n;
`;

before(async () => {
	database = await testDatabase();
	client = new pg.Client({ connectionString: database.url });
	await client.connect();
	await client.query(seed.replaceAll(':sites', `array['${siteId}', '${otherSiteId}']::uuid[]`));
	await client.query('vacuum analyze');
});

after(async () => {
	await client.end();
	await database[Symbol.asyncDispose]();
});

describe('a batch of retention', () => {
	for (const kept of ['messages', 'history', 'accepted', 'unmatched'] as const)
		test(`reads little more than the rows of ${kept} that it removes`, async () => {
			const [statement] = keptRows[kept].remove;
			assert.ok(statement);
			await client.query('begin');
			await client.query(beginBatch(kept));
			const cutoff = new Date(Date.now() - 80 * 86_400_000);
			const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(`explain (analyze, format json) ${statement.text}`, [
				siteId,
				cutoff,
				rowsMax,
			]);
			await client.query('rollback');
			const nodes = nodesOf(rows[0]?.['QUERY PLAN'][0]?.Plan ?? assert.fail('no plan'));
			const read = nodes.map((node) => ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1));
			// A range of pages of the BRIN index is read as a whole.
			assert.ok(Math.max(...read) <= (kept === 'accepted' ? 30_000 : rowsMax * 5), `${JSON.stringify(rows[0])}`);
			assert.deepEqual(
				nodes.filter((node) => node['Node Type'] === 'Seq Scan'),
				[],
			);
		});
});
