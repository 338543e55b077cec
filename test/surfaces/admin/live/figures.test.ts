import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addSite } from '#administration/sites.ts';
import { silentLog } from '#core/log.ts';
import { Figures } from '#surfaces/admin/live/figures.ts';
import { testAdministration } from '#test/support/administration.ts';
import { createMetrics } from '../../../../src/metrics.ts';

test('live figures are of the ten seconds before each point, an hour of them, and by site where that can be told', async () => {
	await using administration = await testAdministration();
	const north = await addSite(administration.context, { slug: 'north', name: 'North' });
	await addSite(administration.context, { slug: 'south', name: 'South' });
	const { database } = administration.context;
	const metrics = createMetrics({ processMetrics: false });
	const clock = { ms: Date.parse('2026-03-01T10:00:00Z'), nowMs: () => clock.ms };
	const waiting = new Map<string, number>();
	const figures = new Figures({
		node: 'node-1',
		active: async () => [],
		database,
		waitingBySite: () => waiting,
		metrics,
		clock,
		log: silentLog,
	});
	const next = async () => {
		clock.ms += 10_000;
		await figures.take();
	};
	metrics.siteMessages.inc({ site: 'north', outcome: 'accepted' }, 1000);
	await next();
	metrics.siteMessages.inc({ site: 'north', outcome: 'accepted' }, 7);
	metrics.siteMessages.inc({ site: 'north', outcome: 'refused' }, 2);
	metrics.siteMessages.inc({ site: 'south', outcome: 'ignored' });
	for (let time = 0; time < 99; time++) metrics.acknowledgementSeconds.observe({ surface: 'mllp' }, 0.004);
	metrics.acknowledgementSeconds.observe({ surface: 'hl7-http' }, 0.9);
	for (let time = 0; time < 900; time++) metrics.acknowledgementSeconds.observe({ surface: 'replay' }, 20);
	metrics.dimseAssociations.set(3);
	metrics.mailboxFull.inc({ holder: 'site' });
	waiting.set(north.id, 12);
	await next();

	const all = figures.overview('all');
	const [first, second] = all.points;
	assert.equal(all.points.length, 2);
	assert.deepEqual(
		[first?.received, first?.latency_p50_ms, first?.latency_p99_ms],
		[0, null, null],
		'what was counted before the first point is nobody’s rate',
	);
	assert.deepEqual([second?.received, second?.refused, second?.waiting, second?.associations], [10, 2, 12, 3]);
	assert.ok((second?.latency_p50_ms ?? 0) > 2.5 && (second?.latency_p50_ms ?? 0) < 5);
	assert.equal(second?.latency_p99_ms, 5, 'the upper end of the bucket of the 99th');
	assert.deepEqual(all.mailboxes, [{ site: 'north', waiting: 12 }]);
	assert.ok((all.storage_bytes ?? 0) > 1_000_000);
	const [alert, ...others] = all.alerts;
	assert.deepEqual([alert?.name, alert?.since, others], ['TributaryMailboxFull', second?.at, []]);
	assert.equal(alert?.summary, 'a mailbox of node-1 is full');

	const south = figures.overview(['south']);
	assert.deepEqual(south.points[1], {
		at: second?.at,
		received: 1,
		refused: 0,
		latency_p50_ms: null,
		latency_p99_ms: null,
		waiting: 0,
		associations: null,
		storage_bytes: 0,
	});
	assert.equal(all.points[1]?.storage_bytes, all.storage_bytes);
	assert.deepEqual([south.mailboxes, south.alerts, south.storage_bytes], [[], [], 0]);

	await next();
	assert.deepEqual([figures.latest('all')?.received, figures.latest('all')?.latency_p99_ms], [0, null]);
	for (let time = 0; time < 400; time++) await next();
	const hour = figures.overview('all').points;
	assert.equal(hour.length, 360);
	assert.equal(hour.at(-1)?.at, new Date(clock.ms).toISOString());
	await figures.close();
});

describe('while the database is away', () => {
	test('figures are taken all the same', async () => {
		const database = { run: () => Promise.reject(new Error('away')) };
		const metrics = createMetrics({ processMetrics: false });
		const figures = new Figures({
			node: 'node-1',
			active: async () => [],
			database,
			waitingBySite: () => new Map(),
			metrics,
			clock: { nowMs: () => 1000 },
			log: silentLog,
		});
		await figures.take();
		const { points, storage_bytes } = figures.overview('all');
		assert.deepEqual([points.length, storage_bytes], [1, null]);
		await figures.close();
	});
});
