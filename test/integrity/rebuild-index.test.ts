import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { exportObjects } from '#administration/export-objects.ts';
import { rebuildIndex } from '#administration/rebuild-index.ts';
import { dataSetOffset } from '#dicom/part10.ts';
import type { Delivery } from '#record/delivery.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { testService } from '#test/support/service.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';
import { processInPlace } from '../../src/ingest-in-place.ts';

describe('an index that is lost', () => {
	test('is made from the segments alone, and every image can be exported byte for byte', async () => {
		await using service = await testService();
		const { called, siteId } = await addImagingSite(service, 'west');
		const instances = [1000, 100_000, 900_000].map((size, index) =>
			ctInstance({ sopInstanceUid: `1.2.${index + 1}`, studyUid: '1.2', seriesUid: '1.2.0', pixels: Buffer.alloc(size, index) }),
		);
		const other = ctInstance({ sopInstanceUid: '1.2.1', studyUid: '1.2', seriesUid: '1.2.0', pixels: Buffer.alloc(1000, 9) });
		using scu = await StorageScu.open(service.port('dimse'), { called });
		for (const instance of instances) assert.equal((await scu.store(instance)).status, 0);
		assert.equal((await scu.store(other)).status, 0xb000);
		await scu.release();
		const rows = () => service.rows('select sop_instance_uid, object_key, digest, bytes::integer from imaging_instance order by 1');
		const kept = () => service.rows('select object_key, digest from imaging_conflict');
		const before = [await rows(), await kept()];
		for (const table of ['instance', 'series', 'study', 'conflict'])
			await service.rows(`delete from imaging_${table} where site_id = $1`, [siteId]);
		const { database } = service.administration;
		const objects = configuredObjectStore({ DATA_DIR: service.dataDir });
		const deliver = <Sent extends Delivery>(delivery: Sent) => processInPlace(service.databaseUrl, delivery);
		const rebuild = () => rebuildIndex({ database, objects, deliver, headerBytesMax: 2 ** 20, nowMs: () => Date.now() });
		const { objects: seen, stored, kept_aside: aside, refused, damaged } = await rebuild();
		assert.deepEqual([seen, stored, aside, refused, damaged], [4, 3, 1, 0, 0]);
		assert.equal((await rebuild()).known, 4, 'a second run changes nothing');
		const digests = (of: unknown[]) =>
			of
				.flatMap((list) => list as { digest: string }[])
				.map(({ digest }) => digest)
				.sort();
		assert.deepEqual(digests([await rows(), await kept()]), digests(before));
		const to = join(service.dataDir, 'exported');
		const report = await exportObjects(database, objects, { to, site: 'west', studyUid: undefined });
		assert.deepEqual([report.instances, report.written, report.missing], [3, 3, 0]);
		const files = globSync('west/1.2/1.2.0/*.dcm', { cwd: to }).sort();
		assert.equal(files.length, 3);
		for (const [index, name] of files.entries()) {
			const file = readFileSync(join(to, name));
			const sent = [instances[index], other].map((instance) => Buffer.from(instance?.dataSet ?? []));
			assert.ok(
				sent.some((dataSet) => dataSet.equals(file.subarray(dataSetOffset(file)))),
				name,
			);
		}
		assert.equal((await exportObjects(database, objects, { to, site: undefined, studyUid: '1.2' })).present, 3);
	});
});
