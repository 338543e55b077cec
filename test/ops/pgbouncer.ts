import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `npm run test:pgbouncer` runs test/integrity/pgbouncer.test.ts with a PgBouncer that keeps prepared statements, the one of Debian 13.
 * debootstrap makes a root with it (or ROOTFS names a folder that has one), so this has to be run as root. A wrapper starts the program by the
 * loader and the libraries of that root, because it needs a newer C library than this machine may have.
 */
const folder = mkdtempSync(join(tmpdir(), 'tributary-pgbouncer-root-'));
chmodSync(folder, 0o755);
try {
	const image = process.env['ROOTFS'] ?? made(join(folder, 'root'));
	const [loader, libraries] = [only(image, 'usr/lib*/ld-linux-*.so.*'), only(image, 'usr/lib/*-linux-gnu*')];
	const program = join(folder, 'pgbouncer');
	writeFileSync(program, `#!/bin/sh\nexec '${loader}' --library-path '${libraries}' '${join(image, 'usr/sbin/pgbouncer')}' "$@"\n`);
	chmodSync(program, 0o755);
	process.stdout.write(execFileSync(program, ['--version'], { encoding: 'utf8' }));
	const { status } = spawnSync(process.execPath, ['test/run.mjs', 'test/integrity/pgbouncer.test.ts'], {
		cwd: join(import.meta.dirname, '../..'),
		// A test that is skipped in spite of this program fails.
		env: { ...process.env, TRIBUTARY_PGBOUNCER: program, TRIBUTARY_EXPECT: 'pgbouncer_21' },
		stdio: 'inherit',
	});
	process.exitCode = status ?? 1;
} finally {
	rmSync(folder, { recursive: true, force: true });
}

function made(image: string): string {
	execFileSync('debootstrap', ['--variant=minbase', '--include=pgbouncer', 'trixie', image], { stdio: ['ignore', 'ignore', 'pipe'] });
	return image;
}

/** @throws Error unless the root has one such path */
function only(image: string, pattern: string): string {
	const [path, ...others] = globSync(join(image, pattern));
	if (path === undefined || others.length > 0) throw new Error(`${image} has ${path === undefined ? 'no' : 'more than one'} ${pattern}`);
	return path;
}
