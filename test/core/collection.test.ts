import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { collectionFlag } from '#core/collection.ts';

test('V8 knows the flag by which each thread collects by itself', () => {
	// At run time an unknown flag is passed over without a word; at the start it is refused.
	const { status, stderr } = spawnSync(process.execPath, [collectionFlag, '--eval', ''], { encoding: 'utf8' });
	assert.equal(status, 0, stderr);
	assert.notEqual(spawnSync(process.execPath, ['--no-such-scavenge', '--eval', '']).status, 0);
});
