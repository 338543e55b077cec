import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/**
 * The release before this one: what PREVIOUS_RELEASE names, else the newest tag behind this commit, else, where tags were not fetched, the commit
 * that wrote its heading in CHANGELOG.md; above it stands what this one has.
 * @returns a name that git knows; undefined in a tarball, and in a clone whose history does not go back so far
 */
export function previousRelease(): string | undefined {
	found ??= {
		commit: process.env['PREVIOUS_RELEASE'] || git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^') || headingBefore(),
	};
	return found.commit === '' ? undefined : found.commit;
}

let found: { commit: string } | undefined;

function headingBefore(): string {
	const before = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').match(/^## \S+/gm)?.[1];
	return before === undefined ? '' : (git('log', `-S${before} `, '--format=%H', '--', 'CHANGELOG.md').split('\n').at(-1) ?? '');
}

function git(...parameters: string[]): string {
	const { status, stdout } = spawnSync('git', parameters, { cwd: root, encoding: 'utf8' });
	return status === 0 ? stdout.trim() : '';
}
