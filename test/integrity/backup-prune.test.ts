import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { testDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/eventually.ts';
import { opened, sendImages } from '#test/support/images.ts';
import { type S3Request, S3Server } from '#test/support/s3-server.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { terminal } from '#test/support/terminal.ts';

const checkout = join(import.meta.dirname, '../..');

describe('the removal of backups from a bucket', () => {
	const server = new S3Server();
	const to = `s3://${server.bucket}/nightly`;
	const folder = mkdtempSync(join(tmpdir(), 'tributary-pruned-'));
	const children: ChildProcess[] = [];
	let service: TestService;
	let variables: Record<string, string>;

	before(async () => {
		// Every image is a file of its own.
		service = await testService({ SEGMENTED_OBJECT_BYTES_MAX: '0', PROCESSES: '1' });
		variables = await server.variables();
		await service.addSite('west');
		await opened(service, 'west');
		await sendImages(
			service.port('dimse'),
			'WEST',
			[1, 2, 3].map((number) => ({ studyUid: '1.2.3', seriesUid: '1.2.3.1', sopInstanceUid: `1.2.3.1.${number}`, modality: 'CT' })),
		);
	});
	after(async () => {
		for (const child of children) child.kill('SIGKILL');
		await service[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
		rmSync(folder, { recursive: true, force: true });
	});

	const source = (t: TestContext) => terminal(t, { ...variables, DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir });

	/** A command in a process of its own, and the first request of it that the bucket leaves without an answer. */
	async function hanging(argv: readonly string[], isIt: (request: S3Request) => boolean): Promise<{ kill(): Promise<void> }> {
		let isHanging = false;
		server.fault = (request) => {
			if (!isIt(request)) return undefined;
			isHanging = true;
			return 'hang';
		};
		const env = { ...process.env, ...variables, DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir };
		const child = spawn(process.execPath, ['src/start.mjs', ...argv], { cwd: checkout, env, stdio: ['ignore', 'ignore', 'pipe'] });
		children.push(child);
		let said = '';
		child.stderr.on('data', (chunk) => {
			said += chunk;
		});
		await eventually(() => {
			if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said}`);
			return isHanging;
		}, 'a request without an answer');
		server.fault = () => undefined;
		return {
			kill: async () => {
				const ended = once(child, 'exit');
				child.kill('SIGKILL');
				await ended;
			},
		};
	}

	const isDelete = (pattern: RegExp) => (request: S3Request) => request.method === 'DELETE' && pattern.test(request.key);
	const keysOf = (pattern: RegExp) => [...server.objects.keys()].filter((key) => pattern.test(key));

	test('that is killed in the middle is finished by the next run, and what stays is restored', async (t) => {
		const shell = await source(t);
		const backedUp = async () => {
			const { code, out, err } = await shell.run('backup', '--to', to, '--json');
			assert.equal(code, 0, err);
			return JSON.parse(out).cut as string;
		};
		const first = await backedUp();
		assert.equal(keysOf(/objects\/files/).length, 3);
		await service.rows(`delete from imaging_instance where sop_instance_uid = '1.2.3.1.2'`);
		const second = await backedUp();
		assert.equal((await shell.run('backup', 'verify', '--from', to)).code, 0);
		await service.rows(`delete from imaging_instance where sop_instance_uid = '1.2.3.1.3'`);
		const third = await backedUp();
		const listed = JSON.parse((await shell.run('backup', 'list', '--from', to, '--json')).out);
		assert.deepEqual(
			listed.map(({ cut, verified_at: at }: { cut: string; verified_at: string | null }) => [cut, at !== null]),
			[
				[first, false],
				[second, true],
				[third, false],
			],
		);

		const rules = ['backup', 'prune', '--from', to, '--keep-last', '1'];
		const preview = JSON.parse((await shell.run(...rules, '--json')).out);
		assert.deepEqual(
			[preview.removed, preview.cuts_kept, preview.cuts_removed, preview.object_files_removed, keysOf(/objects\/files/).length],
			[false, 2, 1, 1, 3],
		);
		assert.deepEqual(await service.rows(`select from audit_event where action = 'backup.remove'`), []);

		// While one is at it, another one does nothing, and a backup waits.
		const killed = await hanging([...rules, '--remove'], isDelete(new RegExp(`${first}/database`)));
		const other = await shell.run(...rules, '--remove');
		assert.equal(other.code, 1);
		assert.match(other.err, /backups of this place are being removed by another process: try again later/);
		const begun = server.requests.length;
		const waiting = shell.run('backup', '--to', to, '--json');
		const isWaiting = () =>
			server.requests.slice(begun).filter(({ method, key }) => method === 'GET' && key.includes('/pruning/')).length > 2;
		await eventually(isWaiting, 'a backup that looks again');
		await killed.kill();
		const fourth = await waiting;
		assert.equal(fourth.code, 0, fourth.err);
		assert.match(fourth.err, /waiting until the removal of older backups has ended/);
		const { cut: newest, unfinished_removed: rest } = JSON.parse(fourth.out);
		assert.equal(rest, 1, 'the backup removes what was left of the first one');
		// The verified one stays, and the third, which is no longer the newest, goes.
		const { code, out, err } = await shell.run(...rules, '--remove', '--json');
		assert.equal(code, 0, err);
		const report = JSON.parse(out);
		assert.deepEqual(
			[report.removed, report.cuts_kept, report.cuts_removed, report.unfinished_removed, report.object_files_removed],
			[true, 2, 1, 0, 1],
		);
		assert.deepEqual(keysOf(new RegExp(`${first}|${third}|/pruning/`)), []);
		assert.equal(keysOf(/objects\/files/).length, 2);
		const events = await service.rows(`select subject, actor, detail from audit_event where action = 'backup.remove' order by id`);
		assert.deepEqual(
			events.map(({ subject, actor }) => [subject, actor]),
			[
				[first, 'backup'],
				[third, 'backup'],
			],
		);
		assert.match(JSON.stringify(events[0]), new RegExp(`"place":"${to}"`));

		for (const at of [undefined, JSON.parse((await shell.run('backup', 'list', '--from', to, '--json')).out)[0].cut_at as string]) {
			await using empty = await testDatabase();
			const target = await terminal(t, { ...variables, DATABASE_URL: empty.url, DATA_DIR: join(folder, at === undefined ? 'new' : 'old') });
			const restored = await target.run('restore', '--from', to, '--overwrite', '--json', ...(at === undefined ? [] : ['--at', at]));
			assert.equal(restored.code, 0, restored.err);
			const { cut, object_files: files, check } = JSON.parse(restored.out);
			assert.deepEqual([cut, files, check.rows_without_objects], at === undefined ? [newest, 1, 0] : [second, 2, 0]);
		}
	});

	test('does nothing while a backup is being made, and takes away what a killed one left', async (t) => {
		const shell = await source(t);
		const isList = ({ method, key }: S3Request) => method === 'PUT' && key.endsWith('/objects.gz');
		const before = keysOf(/manifest/);
		const backup = await hanging(['backup', '--to', to], isList);
		const rules = ['backup', 'prune', '--from', to, '--keep-last', '1', '--remove'];
		const refused = await shell.run(...rules);
		assert.equal(refused.code, 1);
		assert.match(refused.err, /a backup is being made in this place \(\d{8}T\d{6}Z-\w+\): try again when it has ended/);
		assert.deepEqual(keysOf(/manifest/), before);
		await backup.kill();
		assert.equal(JSON.parse((await shell.run(...rules, '--json')).out).unfinished_removed, 1);
		assert.deepEqual(keysOf(/manifest/), before);
	});
});
