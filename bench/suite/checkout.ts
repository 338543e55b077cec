import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shortCommit } from './recorder.ts';

const root = join(import.meta.dirname, '../..');

const read = (folder: string) => readFileSync(join(folder, 'package-lock.json'), 'utf8');

/**
 * The files of a commit with its dependencies, in a folder of their own that later runs find again: those of this checkout where both ask for
 * the same, else `npm ci`. Nothing is added to the repository, as a worktree would be.
 */
export function checkedOut(name: string, directory: string = tmpdir()): { commit: string; folder: string } {
	const { status } = spawnSync('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], { cwd: root });
	if (status !== 0) throw new Error(`there is no commit ${name}`);
	const commit = shortCommit(name);
	const folder = join(directory, `tributary-bench-${commit}`);
	if (existsSync(folder)) return { commit, folder };
	const made = mkdtempSync(join(directory, 'tributary-checkout-'));
	execFileSync('bash', ['-c', 'set -o pipefail; git archive "$1" | tar -x -C "$2"', 'bash', commit, made], { cwd: root });
	if (read(made) === read(root)) symlinkSync(join(root, 'node_modules'), join(made, 'node_modules'));
	else execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: made, stdio: ['ignore', 'ignore', 'inherit'] });
	renameSync(made, folder);
	return { commit, folder };
}
