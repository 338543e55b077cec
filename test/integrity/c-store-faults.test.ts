import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, globSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import { readinessOfAll } from '#test/support/readiness.ts';
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
		const isReady = async () => (await readinessOfAll(service)).every(({ status }) => status === 200);
		await eventually(isReady, 'readiness');
		const rest = openSync(join(folder, 'rest'), 'w');
		// A probe of a process gives room back, which is taken as well.
		const fill = () =>
			assert.throws(() => {
				for (;;) writeSync(rest, Buffer.alloc(4096));
			}, /ENOSPC/);
		await eventually(async () => {
			fill();
			return (await readinessOfAll(service)).every(
				({ status, reasons }) => status === 503 && reasons?.['objects'] === 'the object store is full',
			);
		}, 'the end of readiness');
		closeSync(rest);
		rmSync(join(folder, 'rest'));
		await eventually(isReady, 'readiness again');
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
		// The probe of its health has made it.
		rmSync(objects, { recursive: true, force: true });
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

/** Makes the end of each write of a large object wait for what the test says. */
function heldWrites(context: TestContext): { end(how: (real: Promise<void>) => Promise<void>): void; begun(): number } {
	let held = Promise.withResolvers<(real: Promise<void>) => Promise<void>>();
	let begun = 0;
	const begin = FileStore.prototype.begin;
	context.mock.method(FileStore.prototype, 'begin', function (this: FileStore, head: Uint8Array) {
		const writer = begin.call(this, head);
		const place = writer.place?.bind(writer);
		writer.place = (key, about) => {
			const placed = place?.(key, about);
			if (placed === undefined) return undefined;
			begun += 1;
			return { key: placed.key, durable: held.promise.then((how) => how(placed.durable)) };
		};
		return writer;
	});
	return {
		end(how) {
			held.resolve(how);
			held = Promise.withResolvers();
		},
		begun: () => begun,
	};
}

describe('C-STORE of an object whose sync takes long or fails', () => {
	test('shows no row and gives no answer before it is durable, and holds up nobody else of the site', async (context) => {
		await using service = await testService({ PROCESSES: '1' });
		const { called, siteId } = await addImagingSite(service, 'west');
		const writes = heldWrites(context);
		const open = () => StorageScu.open(service.port('dimse'), { called });
		const instanceOf = (uid: string, bytes: number) =>
			ctInstance({ sopInstanceUid: uid, studyUid: '1.2', seriesUid: '1.2.0', pixels: Buffer.alloc(bytes, 1) });
		using slow = await open();
		using other = await open();
		const answers: unknown[] = [];
		const answered = slow.store(instanceOf('1.2.1', 300_000)).then(({ status }) => answers.push(status));
		await eventually(() => writes.begun() === 1, 'the object on its way');
		for (const uid of ['1.2.2', '1.2.3'])
			assert.equal((await other.store(instanceOf(uid, 5000))).status, 0, 'the turn is not held for long');
		assert.deepEqual(await instancesOf(service, siteId), ['1.2.2', '1.2.3']);
		assert.deepEqual(answers, []);
		writes.end((durable) => durable);
		await answered;
		assert.deepEqual(answers, [0]);
		assert.deepEqual(await instancesOf(service, siteId), ['1.2.1', '1.2.2', '1.2.3']);
		assert.deepEqual(await service.rows('select 1 from message_log where site_id = $1', [siteId]), []);
	});

	test('is answered with 0xA700 in time when it hangs, and at once while it does; when the store goes on, all is stored and nothing left', async (context) => {
		await using service = await testService({ PROCESSES: '1', OBJECT_STORE_MS_MAX: '1000' });
		const { called, siteId } = await addImagingSite(service, 'west');
		const writes = heldWrites(context);
		using scu = await StorageScu.open(service.port('dimse'), { called });
		const stored = (uid: string, bytes: number) => scu.store(ctInstance({ sopInstanceUid: uid, pixels: Buffer.alloc(bytes, 1) }));
		const refused = { status: 0xa700, comment: 'the object store does not answer' };
		assert.deepEqual(await stored('1.2.1', 300_000), refused);
		for (const bytes of [5000, 300_000, 5_000_000]) assert.deepEqual(await stored('1.2.2', bytes), refused);
		assert.equal(writes.begun(), 1, 'nothing piles up behind what hangs');
		assert.deepEqual(await instancesOf(service, siteId), []);
		writes.end((durable) => durable);
		context.mock.restoreAll();
		await eventually(async () => (await stored('1.2.1', 300_000)).status === 0, 'the store that goes on');
		assert.equal((await stored('1.2.2', 5000)).status, 0);
		assert.deepEqual(await instancesOf(service, siteId), ['1.2.1', '1.2.2']);
		await eventually(async () => (await objectsOf(join(service.dataDir, 'objects'))).length === 2, 'two objects and nothing else');
	});

	test('is answered with 0xA700 and leaves no row, whether the sync fails at once or later', async (context) => {
		await using service = await testService({ PROCESSES: '1' });
		const { called, siteId } = await addImagingSite(service, 'west');
		const writes = heldWrites(context);
		using scu = await StorageScu.open(service.port('dimse'), { called });
		const fails = async (real: Promise<void>) => {
			await real;
			throw new Failure('unavailable', 'the object store does not take the object');
		};
		for (const [uid, pauseMs] of [
			['1.2.1', 0],
			['1.2.2', 200],
		] as const) {
			const stored = scu.store(ctInstance({ sopInstanceUid: uid, pixels: Buffer.alloc(300_000, 1) }));
			await eventually(() => writes.begun() > 0, 'the object on its way');
			await new Promise((resolve) => setTimeout(resolve, pauseMs));
			assert.deepEqual(await instancesOf(service, siteId), []);
			writes.end(fails);
			assert.deepEqual(await stored, { status: 0xa700, comment: 'the object store does not take the object' });
			assert.deepEqual(await instancesOf(service, siteId), []);
		}
		context.mock.restoreAll();
		assert.equal((await scu.store(ctInstance({ sopInstanceUid: '1.2.1', pixels: Buffer.alloc(300_000, 1) }))).status, 0);
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
