import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import pg from 'pg';
import { createKey } from '#administration/keys.ts';
import { BulkClient } from '#test/support/bulk.ts';
import { eventually, testService } from '#test/support/service.ts';

for (const processes of ['1', '2']) {
	test(`a site has its share of the exports that a node of ${processes} process(es) carries out, and its keys of those under way`, async () => {
		await using node = await testService({
			PROCESSES: processes,
			...{ BULK_UNDER_WAY_MAX: '3', BULK_RUNNING_MAX: '2', BULK_SITE_RUNNING_MAX: '1', BULK_KEY_UNDER_WAY_MAX: '2' },
		});
		const [north, south] = [await node.addSite('north'), await node.addSite('south', { allowed_ips: ['127.0.0.2'] })];
		const [first, other] = [new BulkClient(node, north.key), new BulkClient(node, south.key)];
		const { key } = await createKey(node.administration, { site: 'north', owner: 'owner@example.org', label: 'second' });
		const second = new BulkClient(node, key);
		const holder = new pg.Client({ connectionString: node.databaseUrl });
		await holder.connect();
		try {
			await holder.query('begin');
			await holder.query('lock table patient in access exclusive mode');
			const begun = async (client: BulkClient, status: string) =>
				(await client.call('GET', status)).headers.get('x-progress') !== 'waiting';
			const statuses = [await first.startExport(), await first.startExport()];
			const refused = await first.call('GET', '/$export', { Prefer: 'respond-async' });
			assert.deepEqual([refused.status, /of this key/.test(refused.text)], [429, true]);
			statuses.push(await second.startExport());
			const one = await other.startExport();
			await eventually(() => begun(other, one), 'the export of the other site, though those of the first came before it');
			const running = await Promise.all(statuses.map((status) => begun(first, status)));
			assert.equal(running.filter(Boolean).length, 1);
			await holder.query('commit');
			for (const status of statuses) await first.manifest(status);
			await other.manifest(one);
		} finally {
			await holder.end();
		}
	});
}
