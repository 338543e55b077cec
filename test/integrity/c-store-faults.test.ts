import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { FileStore } from '#storage/objects/file-store.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';
import { abortPdu, releaseRequest } from '#test/surfaces/dimse/peer.ts';

/** Every object below the folder, and the files of those under way. */
async function objectsOf(folder: string): Promise<string[]> {
	const found = globSync('incoming/*/*', { cwd: folder });
	for await (const { key } of new FileStore(folder).list()) found.push(key);
	return found;
}

async function instancesOf(service: TestService, siteId: string): Promise<string[]> {
	const rows = await service.rows<{ uid: string }>(
		'select sop_instance_uid as uid from imaging_instance where site_id = $1 order by sop_instance_uid',
		[siteId],
	);
	return rows.map(({ uid }) => uid);
}

/** A file system of one megabyte of the test's own; undefined where this user may not mount one. */
function smallFileSystem(context: TestContext): string | undefined {
	const folder = mkdtempSync(join(tmpdir(), 'tributary-small-'));
	const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status === 0;
	context.after(() => {
		if (isMounted) spawnSync('umount', ['-l', folder]);
		rmSync(folder, { recursive: true, force: true });
	});
	return isMounted ? folder : undefined;
}

const deaths: [string, (scu: StorageScu) => void][] = [
	['a reset', ({ peer }) => peer.socket.resetAndDestroy()],
	['a close', ({ peer }) => peer.socket.end()],
	['an abort', ({ peer }) => peer.write(abortPdu)],
	['a release', ({ peer }) => peer.write(releaseRequest)],
	['garbage', ({ peer }) => peer.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'))],
];

describe('C-STORE of one SOP Instance UID over many associations at once', () => {
	test('is one copy where the content is one; of several contents one is stored and every other one kept aside', async () => {
		await using service = await testService({ WORKERS: '2' });
		const { called, siteId } = await addImagingSite(service, 'west');
		const store = new FileStore(join(service.dataDir, 'objects'));
		const statuses = async (sopInstanceUid: string, contentOf: (lane: number) => number) => {
			const answers = await Promise.all(
				Array.from({ length: 12 }, async (_, lane) => {
					using scu = await StorageScu.open(service.port('dimse'), { called, calling: `CT${lane}` });
					const pixels = Buffer.alloc(100_000, contentOf(lane));
					return (await scu.store(ctInstance({ sopInstanceUid, studyUid: '1.2', seriesUid: '1.2.0', pixels }))).status;
				}),
			);
			return [0, 0xb000].map((status) => answers.filter((answer) => answer === status).length);
		};
		assert.deepEqual(await statuses('1.2.1', () => 1), [12, 0]);
		assert.deepEqual(await statuses('1.2.2', (lane) => lane), [1, 11]);
		const mixed = await statuses('1.2.3', (lane) => lane % 2);
		assert.deepEqual(mixed, [6, 6], 'the content that is stored, and the other, each time it comes');
		assert.deepEqual(await instancesOf(service, siteId), ['1.2.1', '1.2.2', '1.2.3']);
		const kept = await service.rows<{ object_key: string; digest: string }>(
			`select object_key, digest from imaging_instance where site_id = $1
			union all select 'quarantine/' || object_key, digest from imaging_conflict where site_id = $1`,
			[siteId],
		);
		for (const { object_key: key } of kept) assert.ok(((await store.size(key)) ?? 0) > 100_000, key);
		assert.equal((await objectsOf(join(service.dataDir, 'objects'))).length, kept.length);
		assert.equal(new Set(kept.map(({ digest }) => digest)).size, 1 + 12 + 2, 'no content is lost');
		const [study] = await service.rows('select instance_count, series_count from imaging_study where site_id = $1', [siteId]);
		assert.deepEqual(study, { instance_count: 3, series_count: 1 });
	});
});

describe('C-STORE that does not come to its end', () => {
	test('leaves no file and no row, wherever the sender ends', async () => {
		await using service = await testService();
		const { called, siteId } = await addImagingSite(service, 'west');
		const objects = join(service.dataDir, 'objects');
		using first = await StorageScu.open(service.port('dimse'), { called });
		const whole = ctInstance({ sopInstanceUid: '1.2.1', pixels: Buffer.alloc(900_000, 1) });
		assert.equal((await first.store(whole)).status, 0);
		for (const [index, [what, die]] of deaths.entries()) {
			for (const kept of [1, 2, 20, 40]) {
				using scu = await StorageScu.open(service.port('dimse'), { called });
				const instance = ctInstance({ sopInstanceUid: `1.2.${index + 2}.${kept}`, pixels: Buffer.alloc(900_000, index) });
				scu.peer.write(...scu.request(instance).slice(0, kept));
				// So that the reset does not overtake what was sent.
				await new Promise((resolve) => setTimeout(resolve, kept));
				die(scu);
				await eventually(async () => (await objectsOf(objects)).length === 1, `after ${what} behind ${kept} PDUs: one object`);
			}
		}
		assert.deepEqual(await instancesOf(service, siteId), ['1.2.1']);
		assert.equal((await first.store(whole)).status, 0);
		assert.equal((await objectsOf(objects)).length, 1);
		await first.release();
	});

	test('is answered with 0xA700 when the disk is full, leaves nothing, and is stored when there is room', async (context) => {
		const folder = smallFileSystem(context);
		if (folder === undefined) return context.skip('this user may not mount a file system');
		await using service = await testService({ OBJECT_STORE_URL: `file:${folder}` });
		const { called, siteId } = await addImagingSite(service, 'west');
		const sizes = [300_000, 700_000, 5000];
		const instances = sizes.map((size, index) =>
			ctInstance({ sopInstanceUid: `1.2.${index + 1}`, studyUid: '1.2', seriesUid: '1.2.0', pixels: Buffer.alloc(size, index) }),
		);
		using scu = await StorageScu.open(service.port('dimse'), { called });
		writeFileSync(join(folder, 'filler'), Buffer.alloc(500_000));
		const answers = [];
		for (const instance of instances) answers.push(await scu.store(instance));
		assert.deepEqual(answers, [
			{ status: 0, comment: undefined },
			{ status: 0xa700, comment: 'the object store is full' },
			{ status: 0, comment: undefined },
		]);
		assert.equal((await objectsOf(folder)).length, 2);
		assert.deepEqual(await instancesOf(service, siteId), ['1.2.1', '1.2.3']);
		rmSync(join(folder, 'filler'));
		await new FileStore(folder).remove(await keyOf(service, '1.2.1'));
		assert.equal((await scu.store(instances[1] ?? assert.fail())).status, 0);
		assert.deepEqual(await instancesOf(service, siteId), ['1.2.1', '1.2.2', '1.2.3']);
		await scu.release();
	});

	test('is answered with 0xA700 when no file can be made, and is stored when one can', async () => {
		await using service = await testService();
		const { called, siteId } = await addImagingSite(service, 'west');
		const objects = join(service.dataDir, 'objects');
		writeFileSync(objects, 'in the way');
		using scu = await StorageScu.open(service.port('dimse'), { called });
		const instance = ctInstance({ sopInstanceUid: '1.2.1', pixels: Buffer.alloc(2_000_000) });
		assert.deepEqual(await scu.store(instance), { status: 0xa700, comment: 'the object store does not take the object' });
		assert.deepEqual(await instancesOf(service, siteId), []);
		assert.equal(await scu.echo(), 0);
		rmSync(objects);
		assert.equal((await scu.store(instance)).status, 0);
		assert.deepEqual(await instancesOf(service, siteId), ['1.2.1']);
		await scu.release();
	});
});

async function keyOf(service: TestService, sopInstanceUid: string): Promise<string> {
	const [row] = await service.rows<{ object_key: string }>('select object_key from imaging_instance where sop_instance_uid = $1', [
		sopInstanceUid,
	]);
	return row?.object_key ?? '';
}
