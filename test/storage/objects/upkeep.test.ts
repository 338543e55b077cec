import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, statSync, truncateSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newId } from '#core/id.ts';
import { silentLog } from '#core/log.ts';
import { objectIdOf } from '#record/same-object.ts';
import type { Database } from '#storage/database.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import { FileMover, type MoveOptions } from '#storage/objects/move-files.ts';
import { newObjectKey, placeOf } from '#storage/objects/object-key.ts';
import { newOwner } from '#storage/objects/owner.ts';
import { Pace } from '#storage/objects/pace.ts';
import { Upkeep, type UpkeepOptions } from '#storage/objects/upkeep.ts';
import { UpkeepLock } from '#storage/objects/upkeep-lock.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { doorTo } from '#test/support/door.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { head, newRoot, read, siteId } from './support.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
/** The process of which these are is no longer there. */
const endedOwner = () => newOwner().replace(/-\d+-/, `-${spawnSync(process.execPath, ['-e', '']).pid}-`);

let testOf: TestDatabase;
let door: Database;
before(async () => {
	testOf = await testDatabase();
	door = doorTo(testOf.url);
});
after(async () => {
	await door.close();
	await testOf[Symbol.asyncDispose]();
});

interface Stored {
	uid: string;
	key: string;
	content: Buffer;
}

/** A folder with what an ended process stored, and rows that name it. */
async function filled(sizes: readonly number[], kind: 'instance' | 'conflict' | 'none' = 'instance', owner = endedOwner(), max = 2 ** 22) {
	const root = newRoot();
	const store = new FileStore(root, { writer: owner, segmentBytes: 2 ** 30, objectBytesMax: max });
	const prefix = newId();
	const objects: Stored[] = [];
	for (const [index, size] of sizes.entries()) {
		const uid = `${prefix}.${index}`;
		const content = Buffer.alloc(size, `${index} of ${prefix}, `);
		const writer = store.begin(head);
		await writer.write(content);
		const { bytes, digest } = await writer.finish();
		const key = await writer.publish(newObjectKey({ siteId, studyUid: '1', seriesUid: '1.1', sopInstanceUid: uid }), {
			...{ sopInstanceUid: uid, callingAe: 'CT', source: '192.0.2.1' },
		});
		objects.push({ uid, key, content: Buffer.concat([head, content]) });
		if (kind !== 'none') await insertRow(kind, uid, digest, bytes, key);
	}
	return { root, store, objects, ofRows: () => keysOf(prefix) };
}

async function insertRow(kind: 'instance' | 'conflict', uid: string, digest: string, bytes: number, key: string): Promise<void> {
	const text =
		kind === 'instance'
			? `insert into imaging_instance (site_id, sop_instance_uid, study_uid, series_uid, sop_class_uid, transfer_syntax_uid, digest, bytes,
				object_key, calling_ae, source, stored_at) values ($1, $2, '1', '1.1', '1.2', '1.2', $3, $4, $5, 'CT', '192.0.2.1', now())`
			: `insert into imaging_conflict (site_id, id, sop_instance_uid, study_uid, digest, bytes, object_key, calling_ae, source, received_at)
				values ($1, gen_random_uuid(), $2, '1', $3, $4, $5, 'CT', '192.0.2.1', now())`;
	await door.people.rows({ text }, [siteId, uid, digest, bytes, key]);
}

async function keysOf(prefix: string): Promise<Map<string, string>> {
	const text = `select sop_instance_uid as uid, object_key as key from imaging_instance where sop_instance_uid like $1
		union all select sop_instance_uid, object_key from imaging_conflict where sop_instance_uid like $1`;
	const rows = await door.people.rows<{ uid: string; key: string }>({ text }, [`${prefix}.%`]);
	return new Map(rows.map(({ uid, key }) => [uid, key]));
}

function upkeepOf(root: string, options: Partial<UpkeepOptions> = {}): Upkeep {
	const owner = newOwner();
	const store = new FileStore(root, { writer: owner, segmentBytes: 2 ** 30, objectBytesMax: Number.POSITIVE_INFINITY });
	const metrics = createMetrics({ processMetrics: false });
	const bounds = { segmentBytes: 2 ** 20, bytesPerSecond: 2 ** 40, settledMs: 0, graceMs: 3_600_000 };
	return new Upkeep({ store, owner, database: door.people, metrics, log: silentLog, ...bounds, ...options });
}

const names = (root: string, ending: string) => readdirSync(join(root, 'segments')).filter((name) => name.endsWith(ending));

function moverOf(store: FileStore, options: Partial<MoveOptions> = {}): FileMover {
	const metrics = createMetrics({ processMetrics: false });
	const describe = (bytes: Buffer) => {
		const [, index, prefix] = /^head(\d+) of ([0-9a-f-]+),/.exec(bytes.toString('latin1')) ?? [];
		return index === undefined ? undefined : { sopInstanceUid: `${prefix}.${index}`, headBytes: head.length };
	};
	const bounds = { objectBytesMax: 300_000, settledMs: -1000, graceMs: -1 };
	return new FileMover({ store, database: door.people, metrics, log: silentLog, describe, ...bounds, ...options });
}

describe('files of earlier releases', () => {
	test('are moved into segments while they can be read; long, young, strange and damaged ones stay', async () => {
		const sizes = [5000, 200_000, 400_000, 70_000, 90_000];
		const { root, objects, ofRows } = await filled(sizes, 'instance', endedOwner(), 0);
		const [small, large, long, damaged, strange] = objects as [Stored, Stored, Stored, Stored, Stored];
		const old = new FileStore(root);
		writeFileSync(old.pathOf(damaged.key), Buffer.alloc(70_004, damaged.content.subarray(0, 60)));
		writeFileSync(old.pathOf(strange.key), 'no object');
		const store = new FileStore(root, { writer: newOwner(), segmentBytes: 2 ** 30, objectBytesMax: Number.POSITIVE_INFINITY });
		await moverOf(store, { settledMs: 3_600_000 }).round(new Pace(2 ** 40));
		assert.deepEqual(await ofRows(), new Map(objects.map(({ uid, key }) => [uid, key])), 'young ones stay');
		const mover = moverOf(store);
		await mover.round(new Pace(2 ** 40));
		const rows = await ofRows();
		for (const { uid, key, content } of [small, large]) {
			assert.ok(placeOf(rows.get(uid) ?? ''));
			assert.ok((await read(new FileStore(root), rows.get(uid) ?? '')).equals(content));
			assert.ok((await read(old, key)).equals(content), 'a key that was read before can still be used');
		}
		for (const { uid, key } of [long, damaged, strange]) assert.equal(rows.get(uid), key);
		await mover.round(new Pace(2 ** 40));
		assert.deepEqual([await old.size(small.key), await old.size(large.key), await old.size(long.key)], [undefined, undefined, 400_004]);
	});

	test('that a process moved before it ended are removed by the next one', async () => {
		const { root, objects } = await filled([5000, 6000], 'instance', endedOwner(), 0);
		const settings = { writer: newOwner(), segmentBytes: 2 ** 30, objectBytesMax: Number.POSITIVE_INFINITY };
		await moverOf(new FileStore(root, settings)).round(new Pace(2 ** 40));
		const store = new FileStore(root, settings);
		const mover = moverOf(store);
		assert.equal(await store.size(objects[0]?.key ?? ''), 5004);
		for (const _round of [1, 2]) await mover.round(new Pace(2 ** 40));
		for (const { key } of objects) assert.equal(await store.size(key), undefined);
		let count = 0;
		for await (const { key } of store.list()) count += placeOf(key) ? 1 : 2;
		assert.equal(count, 2);
	});
});

describe('upkeep of segments', () => {
	for (const kind of ['instance', 'conflict'] as const) {
		test(`compacts a segment of which half is removed: every row (${kind}) names a whole copy, and whoever reads goes on`, async () => {
			const sizes = [400_000, 3000, 900_000, 70_000, 10, 500_000, 66_000, 12_000];
			const { root, store, objects, ofRows } = await filled(sizes, kind);
			for (const { key } of objects.filter((_, index) => index === 0 || index === 2)) await store.remove(key);
			const kept = objects.filter((_, index) => index !== 0 && index !== 2);
			const reading = store.read(objects[5]?.key ?? '')[Symbol.asyncIterator]();
			const pieces = [(await reading.next()).value as Uint8Array];
			const metrics = createMetrics({ processMetrics: false });
			const value = async (name: string) => {
				const { values = [] } = (await metrics.registry.getSingleMetric(`tributary_object_compaction_${name}`)?.get()) ?? {};
				return values[0]?.value ?? 0;
			};
			await upkeepOf(root, { metrics }).round();
			assert.ok((await value('last_run_timestamp_seconds')) > 1.7e9);
			const copiedBytes = kept.reduce((sum, { content }) => sum + content.length, 0);
			assert.deepEqual([await value('rewritten_bytes_total'), await value('freed_bytes_total')], [copiedBytes, 0]);
			const rows = await ofRows();
			for (const { uid, key, content } of kept) {
				const moved = rows.get(uid) ?? '';
				assert.notEqual(moved, key);
				assert.equal(objectIdOf(moved), objectIdOf(key), 'it is the same object');
				assert.ok((await read(new FileStore(root), moved)).equals(content));
				assert.ok((await read(store, key)).equals(content), 'a key that was read before can still be used');
			}
			const listed: string[] = [];
			for await (const { key } of new FileStore(root).list()) listed.push(key);
			assert.deepEqual(listed.sort(), kept.map(({ uid }) => rows.get(uid) ?? '').sort());
			const pin = await store.pins.take('backup');
			await upkeepOf(root, { graceMs: -1 }).round();
			assert.equal(names(root, '.segment').length, 2, 'a backup may still have to copy it');
			await pin.release();
			await upkeepOf(root, { graceMs: -1, metrics }).round();
			assert.ok((await value('freed_bytes_total')) > copiedBytes);
			assert.equal(names(root, '.segment').length, 1, 'the compacted segment is gone');
			assert.deepEqual([names(root, '.removed'), names(root, '.emptied')], [[], []]);
			for (let next = await reading.next(); !next.done; next = await reading.next()) pieces.push(next.value);
			assert.ok(Buffer.concat(pieces).equals(objects[5]?.content ?? Buffer.alloc(0)), 'an open reader reads to the end');
		});
	}

	test('keeps a file that was removed while a backup is at work, until it has ended', async () => {
		const { root, store, objects } = await filled([6000, 5000, 7000], 'none', endedOwner(), 5500);
		const [first = '', second = '', third = ''] = objects.map(({ key }) => key);
		const pin = await store.pins.take('backup');
		assert.deepEqual([await store.remove(first), await store.size(first)], [true, undefined]);
		await upkeepOf(root).round();
		assert.ok(existsSync(store.heldPathOf(first)));
		const listed: string[] = [];
		for await (const { key } of store.list()) listed.push(key);
		assert.deepEqual(listed.sort(), [second, third].sort(), 'it is no object of the store any more');
		// A backup that was killed does not touch its pin.
		utimesSync(join(root, 'pins', 'backup'), 0, 0);
		assert.equal(await store.pins.any(), false);
		await upkeepOf(root).round();
		assert.equal(existsSync(store.heldPathOf(first)), false);
		await pin.release();
		await store.remove(third);
		assert.equal(existsSync(store.heldPathOf(third)), false);
	});

	test('leaves a segment of which less than half is removed, and one that changed lately', async () => {
		const { root, store, objects, ofRows } = await filled([100_000, 100_000, 100_000]);
		await store.remove(objects[0]?.key ?? '');
		await upkeepOf(root).round();
		assert.deepEqual(await ofRows(), new Map(objects.map(({ uid, key }) => [uid, key])));
		await store.remove(objects[1]?.key ?? '');
		await upkeepOf(root, { settledMs: 3_600_000 }).round();
		assert.deepEqual(await ofRows(), new Map(objects.map(({ uid, key }) => [uid, key])));
	});

	test('puts together what many short runs left, and copies what no row names', async () => {
		const { root, objects } = await filled([5000], 'none');
		for (let run = 0; run < 8; run++) {
			const store = new FileStore(root, { writer: endedOwner(), segmentBytes: 2 ** 30, objectBytesMax: 2 ** 22 });
			const { durable } = store.place(newObjectKey({ siteId, studyUid: '1', seriesUid: '1', sopInstanceUid: '1' }), {
				...{ bytes: Buffer.from(`head${run}`), headBytes: 4, digest: sha256(Buffer.from(`${run}`)) },
				about: { sopInstanceUid: '1', callingAe: '', source: '' },
			});
			await durable;
			await store.close();
		}
		await upkeepOf(root).round();
		const contents: string[] = [];
		const store = new FileStore(root);
		for await (const { key } of store.list()) contents.push((await read(store, key)).toString());
		assert.equal(new Set(contents).size, 9);
		assert.ok(contents.includes(objects[0]?.content.toString() ?? ''));
		assert.equal((await store.segments.list()).length, 1);
	});

	test('keeps a segment with a damaged record, and everything else of it can be read', async () => {
		const { root, store, objects, ofRows } = await filled([100_000, 90_000, 80_000, 400_000]);
		await store.remove(objects[3]?.key ?? '');
		const [segment = ''] = names(root, '.segment');
		const fd = openSync(join(root, 'segments', segment), 'r+');
		writeSync(fd, Buffer.from('rotten'), 0, 6, (placeOf(objects[1]?.key ?? '')?.offset ?? 0) + 50_000);
		closeSync(fd);
		for (const graceMs of [-1, -1]) await upkeepOf(root, { graceMs }).round();
		assert.ok(existsSync(join(root, 'segments', segment)));
		const rows = await ofRows();
		assert.equal(rows.get(objects[1]?.uid ?? ''), objects[1]?.key);
		for (const { uid, content } of [objects[0], objects[2]].flatMap((object) => object ?? []))
			assert.ok((await read(new FileStore(root), rows.get(uid) ?? '')).equals(content));
	});

	test('seals what an ended process left, torn as it is, and nothing of a living one', async () => {
		const ended = await filled([3000, 200_000]);
		const [segment = ''] = names(ended.root, '.segment');
		const path = join(ended.root, 'segments', segment);
		truncateSync(path, statSync(path).size - 100_000);
		await upkeepOf(ended.root).round();
		assert.equal(statSync(path).mode & 0o777, 0o440);
		assert.ok((await read(new FileStore(ended.root), ended.objects[0]?.key ?? '')).equals(ended.objects[0]?.content ?? head));
		for (const owner of [newOwner(process.ppid), newOwner().replace(/^[0-9a-f]{16}/, '0'.repeat(16))]) {
			const living = await filled([3000], 'instance', owner);
			await living.store.remove(living.objects[0]?.key ?? '');
			await upkeepOf(living.root).round();
			assert.equal(statSync(join(living.root, 'segments', names(living.root, '.segment')[0] ?? '')).mode & 0o777, 0o640);
		}
	});

	test('is done by one process at a time; the lock of one that ended is taken over', async () => {
		const { root } = await filled([10]);
		const folder = join(root, 'segments');
		const living = newOwner(process.ppid);
		const [first, second] = [new UpkeepLock(folder, living), new UpkeepLock(folder, newOwner())];
		assert.deepEqual([await first.take(), await first.take(), await second.take()], [true, true, false]);
		await second.giveBack();
		assert.equal(await second.take(), false);
		await first.giveBack();
		assert.equal(await second.take(), true);
		writeFileSync(join(folder, 'upkeep.lock'), endedOwner());
		assert.equal(await first.take(), true);
	});
});
