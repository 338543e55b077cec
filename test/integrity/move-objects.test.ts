import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { moveObjects } from '#administration/move-objects.ts';
import { checkObjects } from '#administration/objects.ts';
import { quarantineKey } from '#storage/objects/object-key.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { read } from '#test/storage/objects/support.ts';
import { S3Server } from '#test/support/s3-server.ts';
import { testService } from '#test/support/service.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';

describe('objects move', () => {
	test('copies what rows name, from files to a bucket and back, and goes on where it was broken off', async (t) => {
		await using server = new S3Server();
		const access = await server.variables();
		await using service = await testService();
		const { called } = await addImagingSite(service, 'west');
		const scu = await StorageScu.open(service.port('dimse'), { called });
		for (const sopInstanceUid of ['1.2.1', '1.2.2', '1.2.3']) assert.equal((await scu.store(ctInstance({ sopInstanceUid }))).status, 0);
		// Other content under a known UID is kept aside.
		assert.equal((await scu.store(ctInstance({ sopInstanceUid: '1.2.3', pixels: Buffer.alloc(64, 'b') }))).status, 0xb000);
		await scu.release();
		const folder = mkdtempSync(join(tmpdir(), 'tributary-move-'));
		t.after(() => rmSync(folder, { recursive: true, force: true }));
		const files = configuredObjectStore({ DATA_DIR: service.dataDir });
		const bucket = configuredObjectStore({ ...access, DATA_DIR: folder, OBJECT_STORE_URL: `s3://${server.bucket}/moved` });
		const back = configuredObjectStore({ DATA_DIR: folder });
		t.after(() => Promise.all([files, bucket, back].map((store) => store.close())));
		const { database } = service.administration;
		const pages: number[] = [];
		const move = (from: ObjectStore, to: ObjectStore) =>
			moveObjects(database, { from, to, onProgress: ({ objects }) => void pages.push(objects) });
		const counts = async (moving: ReturnType<typeof move>) => {
			const { objects, copied, present, missing, damaged } = await moving;
			return { objects, copied, present, missing, damaged };
		};

		let puts = 0;
		server.fault = ({ method }) => (method === 'PUT' && ++puts > 2 ? { status: 403, code: 'AccessDenied' } : undefined);
		await assert.rejects(move(files, bucket), /the object store/);
		server.fault = () => undefined;
		const there = server.objects.size;
		assert.ok(there > 0 && there < 4, `${there} were copied before it was broken off`);
		assert.deepEqual(await counts(move(files, bucket)), { objects: 4, copied: 4 - there, present: there, missing: 0, damaged: 0 });
		assert.deepEqual(await counts(move(files, bucket)), { objects: 4, copied: 0, present: 4, missing: 0, damaged: 0 });
		assert.deepEqual(pages.slice(-2), [3, 4]);

		assert.deepEqual(await counts(move(bucket, back)), { objects: 4, copied: 4, present: 0, missing: 0, damaged: 0 });
		const rows = await service.rows<{ object_key: string; aside: boolean }>(
			'select object_key, false as aside from imaging_instance union all select object_key, true from imaging_conflict',
		);
		assert.equal(rows.length, 4);
		for (const { object_key: key, aside } of rows) {
			const place = aside ? quarantineKey(key) : key;
			const original = await read(files, place);
			assert.ok(original.length > 0);
			for (const store of [bucket, back]) assert.ok((await read(store, place)).equals(original), `${place} byte for byte`);
			assert.deepEqual(await read(back, place, { start: 10, end: 20 }), original.subarray(10, 20));
		}
		for (const store of [bucket, back]) {
			const { objects, objects_without_rows, rows_without_objects, misplaced } = await checkObjects(
				database,
				store,
				Date.now() + 7_200_000,
				{
					remove: false,
					repair: false,
				},
			);
			assert.deepEqual([objects, objects_without_rows, rows_without_objects, misplaced], [4, 0, 0, 0]);
		}

		const [first] = rows;
		assert.ok(first && !first.aside);
		await service.rows("update imaging_instance set digest = repeat('0', 64) where object_key = $1", [first.object_key]);
		await bucket.remove(first.object_key);
		const { damaged, examples } = await move(files, bucket);
		assert.deepEqual([damaged, examples], [1, [first.object_key]]);
		assert.equal(await bucket.size(first.object_key), undefined, 'what is damaged is not in the new store');

		let open = 0;
		const headless = {
			size: async () => 1,
			async *read() {
				open += 1;
				try {
					for (let piece = 0; piece < 3; piece++) yield Buffer.alloc(8192);
				} finally {
					open -= 1;
				}
			},
		};
		const empty = configuredObjectStore({ DATA_DIR: join(folder, 'empty') });
		const report = await moveObjects(database, { from: headless, to: empty, onProgress: () => undefined });
		await empty.close();
		assert.deepEqual([report.objects, report.damaged, open], [4, 4, 0], 'whatever is no object is read no further, and let go');
	});
});
