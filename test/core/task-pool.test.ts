import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskPool } from '#core/task-pool.ts';

test('a thread imports its module, and does not require it', async (t) => {
	const pool = new TaskPool({ filename: new URL('./loaded-worker.ts', import.meta.url).href, minThreads: 1, maxThreads: 1 });
	t.after(() => pool.destroy());
	const stack: string = await pool.run(undefined);
	assert.match(stack, /loaded-worker/);
	assert.doesNotMatch(stack, /require/i);
});
