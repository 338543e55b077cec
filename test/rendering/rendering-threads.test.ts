import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { silentLog } from '#core/log.ts';
import { RenderingThreads } from '#rendering/rendering-threads.ts';
import type { RenderingTask } from '#rendering/task.ts';
import { createMetrics } from '../../src/metrics.ts';

const task = (frame: number): RenderingTask => ({
	header: new Uint8Array(),
	transferSyntaxUid: '1.2.840.10008.1.2.1',
	frame,
	bytes: new Uint8Array(),
	isEncapsulated: false,
	bitOffset: 0,
	isFloat: false,
	wish: { mediaType: 'image/png', quality: 90, window: undefined, viewport: undefined },
	pixelsMax: 1,
});

function threads(renderedMsMax: number, renderingsWaitingMax = 10): RenderingThreads {
	const worker = new URL('./worker.ts', import.meta.url);
	const metrics = createMetrics({ processMetrics: false });
	return new RenderingThreads({ worker, limits: { renderedMsMax, renderingsMax: 1, renderingsWaitingMax }, metrics, log: silentLog });
}

describe('rendering threads', () => {
	test('a frame that never ends is given up, and those behind it are rendered', async () => {
		const pool = threads(5000);
		try {
			const endless = pool.run(async () => task(13));
			const next = pool.run(async () => task(1));
			await assert.rejects(endless, { code: 'too-costly' });
			assert.deepEqual([...(await next)], [1]);
		} finally {
			await pool.close();
		}
	});

	test('a frame that breaks its decoder is refused, and the next one is rendered', async () => {
		const pool = threads(60_000);
		try {
			await assert.rejects(
				pool.run(async () => task(14)),
				{ code: 'not-acceptable' },
			);
			assert.deepEqual([...(await pool.run(async () => task(2)))], [2]);
		} finally {
			await pool.close();
		}
	});

	test('a frame beyond those that may wait is asked for again later, and nothing of it is read', async () => {
		const pool = threads(60_000, 1);
		try {
			const { promise: held, resolve: release } = Promise.withResolvers<void>();
			const running = pool.run(async () => {
				await held;
				return task(3);
			});
			const waiting = pool.run(async () => task(4));
			await assert.rejects(
				pool.run(() => assert.fail('it is read')),
				{ code: 'unavailable', retryAfterSeconds: 2 },
			);
			release();
			assert.deepEqual([[...(await running)], [...(await waiting)]], [[3], [4]]);
		} finally {
			await pool.close();
		}
	});
});
