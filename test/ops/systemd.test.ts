import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { CertificateFiles, subjectShown } from '#test/support/certificate-files.ts';
import { eventually } from '#test/support/eventually.ts';
import { needs, without } from '#test/support/needs.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { defaultLimits } from '../../src/limits.ts';

const unit = join(import.meta.dirname, '../../ops/systemd/tributary.service');

describe('under systemd', () => {
	test('the node says when it is ready and when it ends; a reload renews its certificates, and neither it nor its database ends', async (t) => {
		const folder = mkdtempSync(join(tmpdir(), 'tributary-systemd-'));
		t.after(() => rmSync(folder, { recursive: true }));
		const told = join(folder, 'told');
		writeFileSync(told, '');
		// It stands in for the program of systemd, which needs the socket of a running systemd.
		writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> '${told}'\n`);
		chmodSync(join(folder, 'systemd-notify'), 0o755);
		using files = new CertificateFiles();
		await using service = new ServiceProcess({
			...files.variables,
			NOTIFY_SOCKET: '/run/systemd/notify',
			PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
		});
		await service.start();
		const lines = () => readFileSync(told, 'utf8').trimEnd().split('\n');
		await eventually(() => lines()[0] !== '', 'the word that it is ready');
		assert.deepEqual(lines(), ['/run/systemd/notify --ready']);
		const database = service.databasePid;
		assert.equal(await subjectShown(service.port('fhir')), 'CN=server.test');
		files.use('client');
		// `systemctl reload` sends it, and a terminal that is closed does.
		process.kill(service.pid, 'SIGHUP');
		await eventually(async () => (await subjectShown(service.port('fhir'))) === 'CN=client.test', 'the renewed certificate');
		const ready = await fetch(`http://127.0.0.1:${service.port('ops')}/health/ready`);
		assert.equal(((await ready.json()) as { checks: { database: string } }).checks.database, 'up');
		assert.equal(service.databasePid, database);
		assert.equal(await service.end('SIGTERM'), 0);
		await eventually(() => lines().length === 2, 'the word that it ends');
		assert.deepEqual(lines(), ['/run/systemd/notify --ready', '/run/systemd/notify --stopping']);
	});

	test('the unit gives a node more time to drain than it takes', () => {
		const seconds = Number(/^TimeoutStopSec=(\d+)s$/m.exec(readFileSync(unit, 'utf8'))?.[1]);
		assert.ok(seconds * 1000 > defaultLimits.drainMsMax, `${seconds} s`);
	});

	test('the unit leaves little open, and that of the backup not much', { skip: without('systemd') }, () => {
		for (const [path, most] of [
			[unit, 25],
			[unit.replace('tributary.service', 'tributary-backup.service'), 35],
		] as const) {
			const { status, stdout, stderr } = spawnSync(
				needs.systemd.found ?? '',
				['security', '--offline=true', `--threshold=${most}`, '--no-pager', path],
				{ encoding: 'utf8' },
			);
			assert.equal(status, 0, `${stdout}${stderr}`);
			assert.match(stdout, /Overall exposure level/);
		}
	});
});
