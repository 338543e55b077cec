import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

test('a command says nothing when its reader has had enough', () => {
	const cwd = join(import.meta.dirname, '../..');
	const { stderr, status } = spawnSync('sh', ['-c', `"${process.execPath}" src/start.mjs help | true`], { cwd, encoding: 'utf8' });
	assert.equal(stderr, '');
	assert.equal(status, 0);
});
