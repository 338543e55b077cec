import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Rounds } from '#core/rounds.ts';
import { ManualTimers } from '#test/support/manual-timers.ts';

function rig() {
	const timers = new ManualTimers();
	const made = { rounds: 0, isBusy: false };
	const rounds = new Rounds(
		100,
		() => {
			made.rounds++;
			return made.isBusy;
		},
		timers,
	);
	return { timers, made, rounds };
}

describe('rounds', () => {
	test('are not made before there is something to do', async () => {
		const { timers, made } = rig();
		await timers.advance(10_000);
		assert.deepEqual([made.rounds, timers.due], [0, []]);
	});

	test('go on while there is something to do, and end when there was nothing for a while', async () => {
		const { timers, made, rounds } = rig();
		made.isBusy = true;
		rounds.wake();
		await timers.advance(5000);
		assert.equal(made.rounds, 50);
		made.isBusy = false;
		await timers.advance(10_000);
		assert.deepEqual([made.rounds, timers.due], [70, []]);
	});

	test('begin again, and are made once however often they are woken', async () => {
		const { timers, made, rounds } = rig();
		rounds.wake();
		await timers.advance(10_000);
		for (let wake = 0; wake < 5; wake++) rounds.wake();
		await timers.advance(300);
		assert.equal(made.rounds, 23);
		rounds.stop();
		await timers.advance(1000);
		assert.deepEqual([made.rounds, timers.due], [23, []]);
	});
});
