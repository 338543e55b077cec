import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runRetention } from '#retention/run.ts';
import { doorTo } from '#test/support/door.ts';
import { testService } from '#test/support/service.ts';
import { defaultLimits } from '../../src/limits.ts';
import { createMetrics } from '../../src/metrics.ts';

test('a run of retention tells of every row that it removed, wherever it ends', async () => {
	await using service = await testService();
	const { site } = await service.addSite('east');
	const door = doorTo(service.databaseUrl);
	const limits = { ...defaultLimits, retentionBatchRows: 1 };
	const metrics = createMetrics({ processMetrics: false });
	const means = { database: door.people, objects: service.administration.objects, limits, metrics, nowMs: Date.now };
	const gone: number[] = [];
	for (let isWhole = false, last = 1; !isWhole; last++) {
		await service.rows(
			`insert into feed_hour (site_id, feed, hour, received, refused, last_at, received_by_minute, refused_by_minute, acknowledged)
			select $1, 'f', hour, 1, 0, hour, '{}', '{}', '{}'
			from generate_series(now() - interval '503 days', now() - interval '501 days', '1 day') hour`,
			[site.id],
		);
		let asked = 0;
		const finished = await runRetention(means, { by: 'test', source: null, everySeconds: 0, isEnding: () => ++asked > last });
		const told = (finished?.removed ?? []).reduce((sum, { rows }) => sum + rows, 0);
		const [left] = await service.rows<{ n: number }>("select count(*)::integer as n from feed_hour where feed = 'f'");
		assert.equal(told, 3 - (left?.n ?? 0), `the run was ended when it asked for the time ${last + 1}`);
		gone.push(told);
		isWhole = asked <= last;
		await service.rows("delete from feed_hour where feed = 'f'");
	}
	for (const rows of [0, 1, 2, 3]) assert.ok(gone.includes(rows), gone.join());
	const { body } = await metrics.exposition('text');
	assert.match(body, new RegExp(`removed_rows_total\\{kept="feeds"\\} ${gone.reduce((sum, rows) => sum + rows, 0)}\\n`));
	await door.close();
});
