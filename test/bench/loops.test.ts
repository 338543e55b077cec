import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Latencies } from '../../bench/load/latencies.ts';
import { type Channel, closedLoop, openLoop, steady } from '../../bench/load/loops.ts';

test('percentiles keep three digits from a microsecond to an hour', () => {
	const latencies = new Latencies();
	assert.ok(Number.isNaN(latencies.percentile(50)) && Number.isNaN(latencies.maxMs));
	for (let ms = 1; ms <= 1000; ms++) latencies.record(ms);
	for (const [percent, ms] of [
		[50, 500],
		[99, 990],
		[100, 1000],
	] as const) {
		assert.ok(Math.abs(latencies.percentile(percent) / ms - 1) < 0.001, `${percent} %`);
	}
	latencies.record(0);
	latencies.record(86_400_000);
	assert.ok(latencies.maxMs > 3_500_000);
});

/** It answers at once, but the request of one number only after a pause. */
function pausing(at: number, ms: number): Channel {
	return {
		send: async (number) => {
			if (number === at) await new Promise((resolve) => setTimeout(resolve, ms));
			return number % 2 === 0;
		},
		close: () => undefined,
	};
}

test('an open loop counts what a pause delays, also for requests that fell due meanwhile; a closed loop leaves that out', async () => {
	const open = await openLoop([pausing(10, 300)], steady(200, 0.5));
	assert.deepEqual([open.accepted, open.failed], [50, 50]);
	assert.ok(open.waitingMax >= 40, `${open.waitingMax} waited`);
	const closed = await closedLoop([pausing(10, 300)], { seconds: 5, countMax: 100 });
	assert.deepEqual([closed.accepted, closed.failed], [50, 50]);
	assert.ok(closed.maxMs >= 299 && closed.p50Ms < open.p50Ms);
});

test('a channel that rejects counts as failed', async () => {
	const broken: Channel = { send: () => Promise.reject(new Error('closed')), close: () => undefined };
	assert.equal((await closedLoop([broken], { seconds: 5, countMax: 3 })).failed, 3);
});

test('requests that have to go over one channel wait for it, in order, while others go on', async () => {
	const sent: number[][] = [[], []];
	const channels = sent.map(
		(own): Channel => ({
			send: async (number) => {
				own.push(number);
				if (number === 0) await new Promise((resolve) => setTimeout(resolve, 200));
				return true;
			},
			close: () => undefined,
		}),
	);
	const result = await openLoop(channels, steady(400, 0.2), { channelOf: (number) => number % 2 });
	assert.equal(result.accepted, 80);
	assert.deepEqual(
		sent,
		[0, 1].map((first) => Array.from({ length: 40 }, (_, index) => first + 2 * index)),
	);
	assert.ok(result.waitingMax >= 20, `${result.waitingMax} waited`);
});
