import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { heldUpMs, loopLag } from '#core/loop-lag.ts';
import { strokes } from '#core/strokes.ts';

function block(ms: number): void {
	const end = performance.now() + ms;
	while (performance.now() < end);
}

describe('the lag of the event loop', () => {
	test('is that of the time in which nothing else could run, once for each reader', async () => {
		const [first, second] = [loopLag.follow(), loopLag.follow()];
		try {
			await pause(50);
			// Longer than the time between two looks, so that one of them is late by the rest at least.
			block(350);
			await pause(150);
			const seen = first.read();
			assert.ok(seen.max >= 0.2, `${seen.max} s`);
			assert.ok(seen.min <= seen.p50 && seen.p50 <= seen.p99 && seen.p99 <= seen.max * 1.02);
			assert.ok(second.read().max >= 0.2);
			assert.deepEqual(first.read(), { min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p90: 0, p99: 0 });
		} finally {
			first.end();
			second.end();
		}
	});

	test('shows what held an idle loop up between two looks', async () => {
		const reader = loopLag.follow();
		try {
			// By then the looks are on the strokes.
			await pause(1600);
			reader.read();
			await new Promise<void>((resolve) => {
				strokes.once(500, () =>
					setTimeout(() => {
						block(300);
						resolve();
					}, 20),
				);
			});
			await pause(700);
			const seen = reader.read();
			assert.ok(seen.max >= 0.05, `${seen.max} s`);
		} finally {
			reader.end();
		}
	});

	test('is not taken from many short rounds', () => {
		const usual = { activeMs: 4, idleMs: 496, rounds: 10 };
		assert.equal(heldUpMs({ activeMs: 304, idleMs: 196, rounds: 110 }, usual), 3);
		assert.equal(heldUpMs({ activeMs: 304, idleMs: 196, rounds: 11 }, usual), 300);
		assert.equal(heldUpMs({ activeMs: 304, idleMs: 196, rounds: 9 }, usual), 300);
	});
});
