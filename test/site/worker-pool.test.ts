import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { taskOf } from '#site/task.ts';
import { WorkNotes } from '#site/work-notes.ts';
import { openPiscina } from '#site/worker-pool.ts';
import { delivery } from './letters.ts';

test('batches that wait for a thread are rejected when it ends before it has begun, and the next one gets a thread', async (t) => {
	const pool = openPiscina(new URL('./spinning-worker.ts', import.meta.url), undefined, WorkNotes.create(2).shared, 2);
	t.after(() => pool.destroy());
	const run = (lane: number) => {
		const [task, transferList] = taskOf({ lane, slot: lane, number: lane, follows: undefined, inSlices: false }, [delivery(`a${lane}`)]);
		return pool.run(task, { transferList });
	};
	const kill = async () => {
		const [thread] = pool.threads;
		assert.ok(thread instanceof Worker);
		await thread.terminate();
	};
	await run(0);
	await kill();
	const waiting = [run(0), run(1)];
	const rejected = Promise.all(waiting.map((batch) => assert.rejects(batch)));
	await kill();
	await rejected;
	assert.equal((await run(0)).kind, 'done');
});
