import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDirectory } from '#access/database-directory.ts';
import { silentLog } from '#core/log.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import { ManualTimers } from '#test/support/manual-timers.ts';
import { createMetrics } from '../../src/metrics.ts';

/** What /health/ready promises (docs/operations.md, "Health"). */
const noticedMsMax = 2000;

test('a database that stands still is noticed within two seconds, at whatever moment it does, and so is its return', async () => {
	const timers = new ManualTimers();
	let answer = () => {};
	let standsStill = false;
	const client = {
		query: () =>
			new Promise((resolve) => {
				answer = () => resolve({ rows: [['']] });
				if (!standsStill) answer();
			}),
	};
	const database = { use: (work: (client: unknown) => Promise<unknown>) => work(client) } as unknown as ConnectionPool;
	const metrics = createMetrics({ processMetrics: false });
	const clock = { nowMs: () => 0 };
	const options = { database, allowAnySource: false, staleMsMax: 60_000, log: silentLog, metrics, clock, timers };
	const directory = await openDirectory(options);
	const tick = (ms: number) => timers.advance(ms);
	const takes = async (wanted: boolean) => {
		let tookMs = 0;
		for (; directory.answering !== wanted && tookMs <= 2 * noticedMsMax; tookMs += 10) await tick(10);
		return tookMs;
	};
	for (let phaseMs = 0; phaseMs < 600; phaseMs += 50) {
		await tick(phaseMs);
		standsStill = true;
		const tookMs = await takes(false);
		assert.ok(tookMs > 0 && tookMs <= noticedMsMax, `noticed after ${tookMs} ms, ${phaseMs} ms after its last return`);
		standsStill = false;
		answer();
		assert.ok((await takes(true)) <= 10, 'its return');
	}
	await directory.close();
});
