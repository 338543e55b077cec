import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import pg from 'pg';
import { setSite, setSiteInput } from '#administration/sites.ts';
import { adt } from '#test/support/adt.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { addImagingSite, StorageScu } from '#test/support/storage-scu.ts';

const limit = (service: TestService, slug: string, limits: object) =>
	setSite(service.administration, setSiteInput.parse({ slug, ...limits }));

describe('a site that has limits of its own', () => {
	test('is rejected one association too many, for now, while another site is served', async () => {
		await using service = await testService();
		for (const slug of ['west', 'east']) await addImagingSite(service, slug);
		const open = (called: string) => StorageScu.open(service.port('dimse'), { called });
		const mayOpen = async (called: string) => {
			try {
				await (await open(called)).release();
				return true;
			} catch (error) {
				assert.match((error as Error).message, /answered with PDU 3/);
				return false;
			}
		};
		await limit(service, 'west', { associations_max: 1 });
		using first = await open('WEST');
		await eventually(async () => !(await mayOpen('WEST')), 'the limit');
		assert.equal(await mayOpen('EAST'), true);
		assert.equal(await first.echo(), 0, 'what is open goes on');
		const metrics = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		assert.match(metrics, /^tributary_dimse_association_requests_total\{result="rejected-site-limit"\} [1-9]/m);
		await first.release();
		await eventually(() => mayOpen('WEST'), 'room for another one');
		using second = await open('WEST');
		assert.equal(await mayOpen('WEST'), false);
		await limit(service, 'west', { associations_max: '' });
		await eventually(() => mayOpen('WEST'), 'the end of the limit');
		assert.equal(await second.echo(), 0);
	});

	test('is answered 503 with Retry-After when as many of its messages wait; all that were taken are stored', async () => {
		await using service = await testService({ PROCESSES: '1' });
		const { site, key } = await service.addSite('west');
		await limit(service, 'west', { waiting_max: 1 });
		// Its key is known to the node, and so is what was changed before.
		await service.addSite('east', { allowed_ips: ['127.0.0.2'] });
		const send = (number: number) =>
			fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
				method: 'POST',
				headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
				body: adt(String(number), 'A', number),
			});
		const { shards } = service.process();
		const holder = new pg.Client({ connectionString: service.databaseUrl });
		await holder.connect();
		try {
			await holder.query('begin');
			await holder.query('select from site_turn where site_id = $1 for update', [site.id]);
			const first = send(1);
			await eventually(async () => (await waitingForTurn(service)) > 0, 'the first message at its turn');
			const second = send(2);
			await eventually(() => shards.waiting().messages === 1, 'the second message in the mailbox');
			const third = await send(3);
			assert.equal(third.status, 503);
			assert.match(third.headers.get('retry-after') ?? '', /^\d+$/);
			assert.match(await third.text(), /too many messages of this site/);
			await holder.query('commit');
			assert.deepEqual([(await first).status, (await second).status, (await send(3)).status], [200, 200, 200]);
		} finally {
			await holder.end();
		}
	});

	test('has them from an administrator alone', async () => {
		await using service = await testService();
		await service.addSite('west');
		const manager = { ...service.administration, actor: { name: 'm@example.org', role: 'manager' as const, sites: ['west'] } };
		for (const limits of [{ waiting_max: 5 }, { associations_max: null }]) {
			await assert.rejects(setSite(manager, setSiteInput.parse({ slug: 'west', ...limits })), { fault: 'forbidden' });
		}
		for (const wrong of [0, -1, 1.5, 2_000_000, 'many']) assert.ok(!setSiteInput.safeParse({ slug: 'west', waiting_max: wrong }).success);
		const set = await limit(service, 'west', { waiting_max: '20', associations_max: 3 });
		assert.deepEqual([set.waiting_max, set.associations_max], [20, 3]);
		const cleared = await limit(service, 'west', { waiting_max: null, associations_max: '' });
		assert.deepEqual([cleared.waiting_max, cleared.associations_max], [null, null]);
	});
});

async function waitingForTurn(service: TestService): Promise<number> {
	const [row] = await service.rows<{ count: string }>(
		"select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
	);
	return Number(row?.count);
}
