import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { testDatabase } from '#test/support/database.ts';
import { opened, sendImages } from '#test/support/images.ts';
import { S3Server } from '#test/support/s3-server.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { terminal } from '#test/support/terminal.ts';
import { readConfig } from '../../src/config.ts';

describe('a backup of objects in a bucket', () => {
	const server = new S3Server();
	const folder = mkdtempSync(join(tmpdir(), 'tributary-from-bucket-'));
	let service: TestService;
	let variables: Record<string, string>;

	before(async () => {
		variables = {
			...(await server.variables()),
			OBJECT_STORE_URL: `s3://${server.bucket}/live`,
			OBJECT_STORE_ATTEMPTS_MAX: '10',
		};
		service = await testService({ ...variables, PROCESSES: '1' });
		await service.addSite('west');
		await opened(service, 'west');
		await sendImages(
			service.port('dimse'),
			'WEST',
			[1, 2, 3].map((number) => ({ studyUid: '1.2.3', seriesUid: '1.2.3.1', sopInstanceUid: `1.2.3.1.${number}`, modality: 'CT' })),
		);
	});
	after(async () => {
		await service[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
		rmSync(folder, { recursive: true, force: true });
	});

	const keysOf = (pattern: RegExp) => [...server.objects.keys()].filter((key) => pattern.test(key));

	test('has what another node removes after the rows were read and before the objects are', async (t) => {
		const [row] = await service.rows<{ object_key: string }>(
			`select object_key from imaging_instance where sop_instance_uid = '1.2.3.1.2'`,
		);
		const key = row?.object_key ?? '';
		const other = configuredObjectStore(readConfig({ ...variables, DATABASE_URL: service.databaseUrl, DATA_DIR: folder }));
		let removed: Promise<boolean> | undefined;
		let isRemoved = false;
		// The names of the objects are stored before the first object is copied.
		server.fault = ({ method, key: asked }) => {
			if (method !== 'PUT' || !asked.endsWith('/named.gz') || isRemoved) return undefined;
			removed ??= other.remove(key).finally(() => {
				isRemoved = true;
			});
			return { status: 503, code: 'SlowDown' };
		};
		const shell = await terminal(t, { ...variables, DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir });
		const to = `s3://${server.bucket}/nightly`;
		const { code, out, err } = await shell.run('backup', '--to', to, '--json');
		server.fault = () => undefined;
		assert.equal(code, 0, err);
		assert.equal(await removed, true);
		await other.close();
		const made = JSON.parse(out);
		assert.deepEqual([made.objects, made.object_files, made.objects_missing], [3, 3, 0]);
		assert.deepEqual(keysOf(/^live\/(pins|held)\//), [], 'nothing is kept when the backup has ended');
		assert.equal(keysOf(/^live\//).length, 2);

		await using empty = await testDatabase();
		const target = await terminal(t, {
			...{ ...variables, OBJECT_STORE_URL: `s3://${server.bucket}/again` },
			...{ DATABASE_URL: empty.url, DATA_DIR: join(folder, 'restored') },
		});
		const restored = await target.run('restore', '--from', to, '--overwrite', '--json');
		assert.equal(restored.code, 0, restored.err);
		assert.deepEqual(JSON.parse(restored.out).check.rows_without_objects, 0);
		assert.ok(server.objects.has(`again/${key}`));
	});
});
