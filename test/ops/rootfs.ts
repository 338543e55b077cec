import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import {
	chmodSync,
	chownSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { dataDirectory } from '#storage/embedded/data-directory.ts';
import { startEmbeddedDatabase } from '#storage/embedded/embedded-database.ts';
import { Way } from '#test/support/standby.ts';
import { Installed, portsOfTests } from '#test/support/tarball.ts';
import { makePackage } from '../../ops/package/package.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
/** The user `node` of the image that the Dockerfile begins with. */
const user = 1000;

/**
 * `npm run test:rootfs`: what ops/Dockerfile makes, without a container engine. Debian 13 by debootstrap (or ROOTFS, a folder that has it), this
 * Node.js, the unpacked tarball, and the start command of the image, in namespaces of its own with a read-only root. Needs root.
 */
describe('the root file system of the image', { timeout: 1_800_000 }, () => {
	test('runs the service as its user, read-only, with the check of the image, and drains on SIGTERM', async (t) => {
		assert.equal(process.getuid?.(), 0, 'only root can make a root file system');
		const folder = mkdtempSync(join(tmpdir(), 'tributary-rootfs-'));
		chmodSync(folder, 0o755);
		t.after(() => rmSync(folder, { recursive: true, force: true }));
		const image = join(folder, 'root');
		const given = process.env['ROOTFS'];
		if (given === undefined) execFileSync('debootstrap', ['--variant=minbase', 'trixie', image], { stdio: 'ignore' });
		else execFileSync('cp', ['-a', given, image]);
		assert.match(readFileSync(join(image, 'etc/debian_version'), 'utf8'), /^13\./);
		cpSync(realpathSync(process.execPath), join(image, 'usr/local/bin/node'));
		const { archive } = await makePackage(root, join(folder, 'dist'));
		mkdirSync(join(image, 'opt/tributary'));
		execFileSync('tar', ['-xzf', archive, '-C', join(image, 'opt/tributary'), '--strip-components=1', '--no-same-owner']);
		cpSync(join(root, 'ops/container/live.sh'), join(image, 'usr/local/bin/tributary-live'));
		const data = join(folder, 'data');
		mkdirSync(data);
		chownSync(data, user, user);
		mkdirSync(join(image, 'var/lib/tributary'));
		const database = await startEmbeddedDatabase({ dataDir: join(folder, 'database'), settings: { shared_buffers: '64MB' } });
		const way = new Way(dataDirectory(join(folder, 'database')).socket);
		const place = await way.open();
		t.after(async () => {
			way.close();
			await database.stop();
		});
		mkdirSync(join(image, 'run/secrets'), { recursive: true });
		writeFileSync(join(image, 'run/secrets/database-url'), `postgresql://tributary@${place}/tributary\n`, { mode: 0o444 });
		const variables = {
			...{ PATH: '/usr/local/bin:/usr/bin:/bin', NODE_ENV: 'production', HOST: '127.0.0.1', DATA_DIR: '/var/lib/tributary' },
			...{ DATABASE_URL_FILE: '/run/secrets/database-url', ...portsOfTests, PROCESSES: '2', WORKERS: '2' },
		};
		const inside = ['env', '-i', '-C', '/opt/tributary', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)];
		const mounts = [
			`mount --make-rprivate /`,
			`mount --bind '${image}' '${image}'`,
			`mount -o remount,ro,bind '${image}'`,
			`mount -t tmpfs -o mode=1777 tmpfs '${image}/tmp'`,
			`mount --bind '${data}' '${image}/var/lib/tributary'`,
			`mount -t proc proc '${image}/proc'`,
			`mount --rbind /dev '${image}/dev'`,
		];
		const start = ['chroot', `--userspec=${user}:${user}`, image, ...inside, 'node', 'src/start.mjs', 'start'].map((word) => `'${word}'`);
		const isolated = ['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child'];
		await using service = new Installed('unshare', [...isolated, 'sh', '-ec', `${mounts.join('\n')}\nexec ${start.join(' ')}`], {
			cwd: '/',
			env: { PATH: process.env['PATH'] },
		});
		await service.ready();
		const first = Number(readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8').trim());
		// Not synchronous: this process is the way to the database.
		const enter = async (...command: string[]) => {
			const as = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
			return (await run('nsenter', ['-t', String(first), '-m', '-p', '-r', '-w', ...as, ...command])).stdout;
		};
		assert.match(readFileSync(`/proc/${first}/status`, 'utf8'), /^NSpid:\s+\d+\s+1$/m, 'it is the first process, as in a container');
		assert.match(readFileSync(`/proc/${first}/status`, 'utf8'), new RegExp(`^Uid:\\s+${user}\\s`, 'm'));
		await assert.rejects(enter('touch', '/opt/tributary/x'), /Read-only file system/);
		assert.match(await enter('ldd', '--version'), /2\.41/);
		const live = `OPS_PORT=${service.port('metrics and health')}`;
		await enter('env', live, '/usr/local/bin/tributary-live');
		await assert.rejects(enter('env', 'OPS_PORT=1', '/usr/local/bin/tributary-live'));
		const listed = JSON.parse(await enter(...inside, 'node', 'src/start.mjs', 'status', '--json'));
		assert.ok(listed, 'a command beside the service');
		assert.equal((await fetch(`http://127.0.0.1:${service.port('console and admin API')}/`)).status, 200);
		assert.ok(existsSync(join(data, 'database-id')));
		assert.equal(await service.end(first), 0, service.output);
	});
});
