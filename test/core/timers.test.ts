import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Stoppable, systemTimers } from '#core/timers.ts';

describe('the timers of the system', () => {
	test('wake a thread once for all that recurs every half second or every few of them, whenever it began', async () => {
		const ran: string[] = [];
		const timers: Stoppable[] = [];
		const turns = new Promise<string[][]>((resolve) => {
			const seen: string[][] = [];
			timers.push(
				systemTimers.every(500, () => {
					ran.push('first');
					// All that is due at one time has run before this.
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

	test('run what recurs at other times as often as they are told', async () => {
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
