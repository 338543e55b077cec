import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { silentLog } from '#core/log.ts';
import { StoreHealth } from '#storage/objects/store-health.ts';
import { ManualTimers, promisesSettle } from '#test/support/manual-timers.ts';
import { createMetrics } from '../../../src/metrics.ts';

function rig() {
	const timers = new ManualTimers();
	const metrics = createMetrics({ processMetrics: false });
	const probes: { answer(): Promise<void>; fail(error: Error): Promise<void>; isGivenUp(): boolean }[] = [];
	const probe = (signal: AbortSignal) =>
		new Promise<void>((resolve, reject) => {
			const settle = (how: () => void) => {
				how();
				return promisesSettle();
			};
			probes.push({ answer: () => settle(resolve), fail: (error) => settle(() => reject(error)), isGivenUp: () => signal.aborted });
		});
	const health = new StoreHealth({ probe, probeMsMax: 1000, metrics, log: silentLog, timers });
	const up = async () => (await metrics.registry.getSingleMetric('tributary_object_store_up')?.get())?.values[0]?.value;
	return { timers, probes, health, up };
}

describe('the health of the object store', () => {
	test('is asked for every half second, by one probe at a time', async () => {
		const { timers, probes, health, up } = rig();
		await timers.advance(500);
		assert.equal(probes.length, 1);
		await timers.advance(900);
		assert.equal(probes.length, 1);
		await probes[0]?.answer();
		assert.deepEqual([health.trouble, health.isHanging, await up()], [undefined, false, 1]);
		await timers.advance(500);
		assert.equal(probes.length, 2);
		health.close();
		assert.deepEqual(timers.due, []);
	});

	test('is bad within two seconds when the store hangs, until a probe comes to its end', async () => {
		const { timers, probes, health, up } = rig();
		await timers.advance(1900);
		assert.deepEqual([health.trouble, health.isHanging, await up()], ['the object store does not answer', true, 0]);
		assert.equal(probes[0]?.isGivenUp(), true);
		await probes[0]?.fail(new Error('given up'));
		assert.equal(health.isHanging, true);
		await timers.advance(500);
		await probes[1]?.answer();
		assert.deepEqual([health.trouble, health.isHanging, await up()], [undefined, false, 1]);
	});

	test('is bad when the store is full, with the reason; the store answers all the same', async () => {
		const { timers, probes, health } = rig();
		await timers.advance(500);
		await probes[0]?.fail(new Failure('unavailable', 'the object store is full'));
		assert.deepEqual([health.trouble, health.isHanging], ['the object store is full', false]);
	});
});
