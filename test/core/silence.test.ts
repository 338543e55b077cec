import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Silence } from '#core/silence.ts';
import { ManualTimers } from '#test/support/manual-timers.ts';

describe('the silence of somebody who is waited for', () => {
	test('is looked at after half a second, and then ten times a second', async () => {
		const timers = new ManualTimers();
		const seen: number[] = [];
		const silence = new Silence(() => seen.push(silence.ms), timers);
		silence.begin();
		silence.begin();
		await timers.advance(499);
		assert.deepEqual([silence.ms, seen], [0, []]);
		await timers.advance(301);
		assert.deepEqual([silence.ms, seen], [800, [500, 600, 700, 800]]);
		silence.end();
		assert.deepEqual([silence.ms, timers.due], [0, []]);
	});

	test('wakes nobody after an answer that comes sooner', async () => {
		const timers = new ManualTimers();
		const silence = new Silence(() => assert.fail('nobody is waited for'), timers);
		silence.begin();
		await timers.advance(100);
		silence.end();
		assert.deepEqual(timers.due, []);
		await timers.advance(1000);
	});

	test('counts no more than half a second before the first look, for however long the process had no turn', () => {
		let nowMs = 0;
		let strike: () => void = assert.fail;
		const timers = new ManualTimers();
		timers.elapsedMs = () => nowMs;
		timers.about = (_ms, run) => {
			strike = run;
			return { stop: () => undefined };
		};
		const silence = new Silence(undefined, timers);
		silence.begin();
		nowMs = 60_000;
		strike();
		assert.equal(silence.ms, 500);
	});
});
