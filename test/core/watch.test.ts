import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLog } from '#core/log.ts';
import { watch } from '#core/watch.ts';
import { ManualTimers } from '#test/support/manual-timers.ts';

describe('a watch', () => {
	const watched = (looks: (() => Promise<void>)[]) => {
		const timers = new ManualTimers();
		const logged: string[] = [];
		const log = { debug: (_detail: object, text: string) => logged.push(text) } as never;
		let begun = 0;
		const look = () => looks[begun++]?.() ?? Promise.resolve();
		return { timers, logged, begun: () => begun, ...watch({ everyMs: 100, look, failure: 'it could not be seen', log, timers }) };
	};

	test('looks at once, and again after each pause, also when a look failed', async () => {
		const { timers, logged, begun, first } = watched([() => Promise.reject(new Error('away'))]);
		assert.equal(begun(), 1);
		await first;
		assert.deepEqual([logged, timers.due, timers.holdsProcess], [['it could not be seen'], [100], false]);
		await timers.advance(100);
		assert.deepEqual([begun(), timers.due], [2, [100]]);
	});

	test('tells of looks that fail again and again as of one trouble, and that it is over, where people are to know', async () => {
		const timers = new ManualTimers();
		const lines: Record<string, unknown>[] = [];
		const log = createLog('info', { write: (line: string) => lines.push(JSON.parse(line)) });
		let left = 3;
		const look = () => (left-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve());
		const { first, close } = watch({ everyMs: 100, look, failure: 'it could not be seen', level: 'warn', log, timers });
		await first;
		for (let time = 0; time < 4; time++) await timers.advance(100);
		await close();
		assert.deepEqual(
			lines.map(({ level, msg, times }) => [level, msg, times]),
			[
				['warn', 'it could not be seen', undefined],
				['info', 'it could not be seen: over', 2],
			],
		);
	});

	test('waits for a look that takes long, and looks no more once it is closed', async () => {
		let end = () => {};
		const { timers, begun, close } = watched([
			() =>
				new Promise((resolve) => {
					end = resolve;
				}),
		]);
		await timers.advance(1000);
		assert.equal(begun(), 1);
		let isClosed = false;
		const closing = close().then(() => {
			isClosed = true;
		});
		await timers.turn();
		assert.equal(isClosed, false);
		end();
		await closing;
		assert.deepEqual([begun(), timers.due], [1, []]);
	});
});
