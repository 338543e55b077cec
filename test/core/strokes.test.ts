import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Stoppable, strokeAt, strokes } from '#core/strokes.ts';
import { systemTimers } from '#core/timers.ts';

describe('the strokes on which recurring work is due', () => {
	const cases: [ms: number, nowMs: number, stroke: number][] = [
		[500, 0, 1],
		[500, 3, 1],
		[500, 399, 1],
		[500, 400, 2],
		[500, 499.5, 2],
		[500, 500, 2],
		[2000, 1000.2, 6],
		[2000, 1399, 6],
		[2000, 1400, 7],
	];
	for (const [ms, nowMs, stroke] of cases) {
		test(`what is due ${ms} ms after ${nowMs} ms is done on stroke ${stroke}`, () => {
			assert.equal(strokeAt(ms, nowMs), stroke);
			const pauseMs = stroke * 500 - nowMs;
			assert.ok(pauseMs <= ms + 100 && pauseMs > ms - 400, `the pause is ${pauseMs} ms`);
		});
	}

	test('all that is due on a stroke is done in one turn of the thread, whenever it began', async () => {
		const timers: Stoppable[] = [];
		const ran: string[] = [];
		const turns = new Promise<string[][]>((resolve) => {
			const seen: string[][] = [];
			timers.push(
				systemTimers.every(500, () => {
					ran.push('first');
					setImmediate(() => {
						seen.push(ran.splice(0).sort());
						if (seen.length === 4) resolve(seen.slice(-2));
					});
				}),
			);
		});
		await pause(120);
		const again = () => {
			ran.push('after');
			timers.push(systemTimers.about(500, again));
		};
		timers.push(
			systemTimers.every(500, () => ran.push('second')),
			systemTimers.about(500, again),
		);
		try {
			for (const turn of await turns) assert.deepEqual(turn, ['after', 'first', 'second']);
		} finally {
			for (const timer of timers) timer.stop();
		}
	});

	test('what is stopped is done no more, also by itself and by another of the same stroke', async () => {
		const ran: string[] = [];
		const timers: Stoppable[] = [];
		await new Promise<void>((resolve) => {
			timers.push(
				strokes.every(500, () => {
					ran.push('first');
					timers[0]?.stop();
					timers[1]?.stop();
				}),
				strokes.every(500, () => ran.push('second')),
				strokes.once(1500, resolve),
			);
		});
		assert.deepEqual(ran, ['first']);
	});

	test('other times are kept to', async () => {
		const times: number[] = [];
		await new Promise<void>((resolve) => {
			const timer = systemTimers.every(30, () => {
				times.push(performance.now());
				if (times.length < 3) return;
				timer.stop();
				resolve();
			});
		});
		assert.ok((times.at(-1) ?? 0) - (times[0] ?? 0) >= 55, 'two pauses of 30 ms lie between the first and the third');
		await pause(60);
		assert.equal(times.length, 3, 'a timer that was stopped runs no more');
	});
});
