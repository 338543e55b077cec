import { type ChildProcess, execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { eventually } from '#test/support/eventually.ts';
import { freePort } from '#test/support/free-port.ts';

/**
 * `npm run test:ceph` runs the tests of every object store (test/storage/objects/object-store.test.ts) in a bucket of the RADOS Gateway of Ceph.
 * debootstrap makes a Debian 13 root with it (or ROOTFS names a folder that has one and may be written to), so this has to be run as root. One
 * monitor, one object storage daemon in memory and one gateway run in that root, on loopback, without authentication among themselves.
 */
const packages = ['ceph-mon', 'ceph-osd', 'radosgw'];
const keys = { accessKeyId: 'TRIBUTARY', secretAccessKey: 'secret' };
const bucket = 'images';

const folder = mkdtempSync(join(tmpdir(), 'tributary-ceph-'));
chmodSync(folder, 0o755);
const image = process.env['ROOTFS'] ?? join(folder, 'root');
/** Below `image`. */
const place = `/${randomUUID()}`;
const running: ChildProcess[] = [];
try {
	if (process.env['ROOTFS'] === undefined) make();
	const endpoint = await started();
	const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials: keys });
	await client.send(new CreateBucketCommand({ Bucket: bucket }));
	client.destroy();
	process.stdout.write(run('radosgw', '--version'));
	const { status } = spawnSync(process.execPath, ['test/run.mjs', 'test/storage/objects/object-store.test.ts'], {
		cwd: join(import.meta.dirname, '../..'),
		env: {
			...process.env,
			// A test that is skipped in spite of this bucket fails.
			...{ TRIBUTARY_BUCKET: bucket, TRIBUTARY_EXPECT: 'bucket', AWS_ENDPOINT_URL_S3: endpoint, AWS_ACCESS_KEY_ID: keys.accessKeyId },
		},
		stdio: 'inherit',
	});
	process.exitCode = status ?? 1;
} finally {
	for (const child of running.reverse()) {
		const ended = child.exitCode === null ? once(child, 'exit') : undefined;
		child.kill('SIGKILL');
		await ended;
	}
	rmSync(join(image, place), { recursive: true, force: true });
	rmSync(folder, { recursive: true, force: true });
}

function make(): void {
	const stdio: StdioOptions = ['ignore', 'ignore', 'pipe'];
	execFileSync('debootstrap', ['--variant=minbase', 'trixie', image], { stdio });
	// Nothing is to start while it is installed.
	writeFileSync(join(image, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
	const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
	for (const command of [['update'], ['install', '-y', '--no-install-recommends', ...packages]])
		execFileSync('chroot', [image, 'apt-get', '-q', ...command], { stdio, env: environment });
}

/** Runs a program of the root to its end; returns what it printed. */
function run(program: string, ...parameters: string[]): string {
	return execFileSync('chroot', [image, program, ...parameters], { encoding: 'utf8', timeout: 120_000, stdio: ['ignore', 'pipe', 'pipe'] });
}

function begin(program: string, ...parameters: string[]): void {
	running.push(spawn('chroot', [image, program, ...parameters, '-f'], { stdio: 'ignore' }));
}

/** @returns the endpoint of the gateway */
async function started(): Promise<string> {
	const [monitor, gateway] = [await freePort(), await freePort()];
	const [cluster, daemon] = [randomUUID(), randomUUID()];
	for (const name of ['mon', 'osd', 'run', 'rgw']) mkdirSync(join(image, place, name), { recursive: true });
	const peers = ['cluster', 'service', 'client', 'mon cluster', 'mon service', 'mon client'];
	const lines = [
		'[global]',
		`fsid = ${cluster}`,
		`mon host = [v2:127.0.0.1:${monitor}]`,
		...['cluster', 'service', 'client'].map((of) => `auth ${of} required = none`),
		...peers.map((of) => `ms ${of} mode = crc`),
		...['public addr = 127.0.0.1', 'cluster addr = 127.0.0.1', 'log file =', `run dir = ${place}/run`],
		...[`mon data = ${place}/mon`, 'mon allow pool size one = true', 'mon data avail crit = 1'],
		...[`osd data = ${place}/osd`, 'osd objectstore = memstore', 'osd crush chooseleaf type = 0'],
		...[
			'osd pool default size = 1',
			'osd pool default min size = 1',
			'osd pool default pg num = 8',
			'osd pool default pg autoscale mode = off',
		],
		...[`rgw data = ${place}/rgw`, `keyring = ${place}/rgw/keyring`, `rgw frontends = beast endpoint=127.0.0.1:${gateway}`],
		// The tests upload in small parts.
		'rgw multipart min part size = 1048576',
	];
	writeFileSync(join(image, place, 'ceph.conf'), `${lines.join('\n')}\n`);
	const conf = ['-c', `${place}/ceph.conf`];
	const map = `${place}/monmap`;
	run('monmaptool', '--create', '--fsid', cluster, '--addv', 'a', `[v2:127.0.0.1:${monitor}]`, map);
	run('ceph-mon', ...conf, '--mkfs', '-i', 'a', '--monmap', map);
	begin('ceph-mon', ...conf, '-i', 'a');
	run('ceph', ...conf, 'osd', 'new', daemon);
	run('ceph-osd', ...conf, '-i', '0', '--mkfs', '--osd-uuid', daemon);
	begin('ceph-osd', ...conf, '-i', '0');
	// The gateway reads a keyring, though nobody asks for what is in it.
	run('ceph-authtool', '--create-keyring', `${place}/rgw/keyring`, '--gen-key', '-n', 'client.admin');
	const user = [
		'--uid',
		'tributary',
		'--display-name',
		'Tributary',
		`--access-key=${keys.accessKeyId}`,
		`--secret-key=${keys.secretAccessKey}`,
	];
	run('radosgw-admin', ...conf, 'user', 'create', ...user);
	begin('radosgw', ...conf, '-n', 'client.admin');
	const endpoint = `http://127.0.0.1:${gateway}`;
	await eventually(
		async () =>
			fetch(endpoint).then(
				({ ok }) => ok,
				() => false,
			),
		'an answer of the gateway',
	);
	return endpoint;
}
