import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkedOut } from '../../bench/suite/checkout.ts';

const git = (...parameters: string[]) => spawnSync('git', parameters, { cwd: import.meta.dirname, encoding: 'utf8' });
const skip = git('rev-parse', 'HEAD').status === 0 ? false : 'there is no repository';

test('the files of a commit are found again, and a name that is no commit is refused', { skip }, (t) => {
	const directory = mkdtempSync(join(tmpdir(), 'tributary-checkouts-'));
	t.after(() => rmSync(directory, { recursive: true, force: true }));
	const { commit, folder } = checkedOut('HEAD', directory);
	assert.ok(git('rev-parse', 'HEAD').stdout.startsWith(commit));
	assert.equal(readFileSync(join(folder, 'package.json'), 'utf8'), git('show', 'HEAD:package.json').stdout);
	assert.ok(existsSync(join(folder, 'node_modules/pg')));
	assert.equal(checkedOut('HEAD', directory).folder, folder);
	assert.throws(() => checkedOut('no-such-commit', directory), /there is no commit no-such-commit/);
});
