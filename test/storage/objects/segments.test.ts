import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { blocksInUse } from '#storage/objects/blocks.ts';
import { FileStore, type SegmentSettings } from '#storage/objects/file-store.ts';
import { isObjectKey, placedKey, placeOf, quarantineKey } from '#storage/objects/object-key.ts';
import { newOwner } from '#storage/objects/owner.ts';
import type { Scanned } from '#storage/objects/segment-reader.ts';
import { about, head, keyOf, newRoot, put, read, refused, siteId, temporary } from './support.ts';

const MiB = 1024 * 1024;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function segmented(root = newRoot(), settings: Partial<SegmentSettings> = {}): FileStore {
	return new FileStore(root, { writer: newOwner(), segmentBytes: 1024 * MiB, objectBytesMax: 4 * MiB, ...settings });
}

/** Puts a whole object, as a worker does. */
async function place(store: FileStore, bytes: Buffer): Promise<string> {
	const { key, durable } = store.place(keyOf('1.1'), { about, bytes, headBytes: 4, digest: sha256(bytes.subarray(4)) });
	await durable;
	return key;
}

async function scanned(store: FileStore): Promise<Scanned[]> {
	const all: Scanned[] = [];
	for (const segment of await store.segments.list()) for await (const one of store.segments.scan(segment)) all.push(one);
	return all;
}

async function listed(store: FileStore): Promise<string[]> {
	const keys: string[] = [];
	for await (const { key } of store.list()) keys.push(key);
	return keys;
}

const segmentFiles = (root: string) =>
	readdirSync(join(root, 'segments')).flatMap((name) => (name.endsWith('.segment') ? [join(root, 'segments', name)] : []));

describe('a store with segments', () => {
	test('gives back objects of every size byte for byte, whole and in ranges, small and large ones in any order', async () => {
		const root = newRoot();
		const store = segmented(root);
		const sizes = [0, 1, 4092, 70_000, 10_000, 65_532, 65_531, 3, 300_000, 800_000, 12, 262_144, 4 * MiB - 4];
		const stored = new Map<string, Buffer>();
		for (const [index, size] of sizes.entries()) {
			const content = Buffer.alloc(size, `content ${index} `);
			stored.set(await put(store, keyOf('1.1'), content), Buffer.concat([head, content]));
		}
		const other = segmented(root);
		for (const [key, bytes] of stored) {
			assert.ok(isObjectKey(key) && isObjectKey(quarantineKey(key)), key);
			assert.equal(await other.size(key), bytes.length);
			assert.ok((await read(other, key)).equals(bytes), key);
			for (const [start, end] of [
				[0, 4],
				[2, 7],
				[3, 3],
				[bytes.length - 1, bytes.length],
				[5000, 300_000],
				[bytes.length, bytes.length + 10],
			] as const)
				assert.ok((await read(other, key, { start, end })).equals(bytes.subarray(start, end)), `${key} ${start} ${end}`);
		}
		assert.deepEqual((await listed(other)).sort(), [...stored.keys()].sort());
		assert.equal(segmentFiles(root).length, 1, 'one writer, one segment');
		const records = (await scanned(other)).map(({ record }) => record);
		assert.deepEqual(
			records.map((record) => [record?.text, record?.digest, record?.contentBytes]),
			[...stored].map(([key, bytes]) => [{ site: siteId, id: placeOf(key)?.id, ...about }, sha256(bytes.subarray(4)), bytes.length]),
		);
		assert.equal(blocksInUse(), 0);
	});

	test('makes a longer object a file of its own, of which nothing is lost', async () => {
		const root = newRoot();
		const store = segmented(root, { objectBytesMax: 500_000 });
		const content = Buffer.alloc(1_200_003, 'abcdefg');
		const writer = store.begin(head);
		for (let at = 0; at < content.length; at += 70_001) await writer.write(content.subarray(at, at + 70_001));
		assert.deepEqual(await writer.finish(), { bytes: content.length + 4, digest: sha256(content) });
		const key = keyOf('1.1');
		assert.equal(await writer.publish(key, about), key);
		assert.ok(readFileSync(join(root, key)).equals(Buffer.concat([head, content])));
		assert.ok(!existsSync(join(root, 'segments')));
		assert.deepEqual([temporary(root), blocksInUse()], [[], 0]);
	});

	test('writes objects that come at the same time one behind the other, and syncs them together', async () => {
		const root = newRoot();
		let syncs = 0;
		const store = segmented(root, {
			synced: () => {
				syncs++;
			},
		});
		const contents = Array.from({ length: 60 }, (_, index) => Buffer.alloc(index % 3 === 0 ? 100_000 : 2000, `${index},`));
		const keys = await Promise.all([
			...contents.map((content) => put(store, keyOf('1.1'), content)),
			...contents.map((content) => place(store, Buffer.concat([head, content]))),
		]);
		for (const [index, key] of keys.entries())
			assert.ok((await read(store, key)).equals(Buffer.concat([head, contents[index % 60] as Buffer])), key);
		assert.ok(syncs < 60, `${syncs} syncs of 120 objects`);
		assert.equal((await scanned(store)).length, 120);
	});

	test('begins another segment when one is full, and seals what it has ended', async () => {
		const root = newRoot();
		const store = segmented(root, { segmentBytes: MiB });
		const content = Buffer.alloc(300_000, 'x');
		for (let count = 0; count < 10; count++) await put(store, keyOf('1.1'), content);
		await store.close();
		const files = segmentFiles(root);
		assert.equal(files.length, 4);
		assert.deepEqual([...new Set(files.map((path) => statSync(path).mode & 0o777))], [0o440]);
		for (const key of await listed(store)) assert.equal(await store.size(key), 300_004);
		const after = await put(store, keyOf('1.1'), content);
		assert.equal(await store.size(after), 300_004);
		assert.equal(segmentFiles(root).length, 5);
	});

	test('does without O_DIRECT, and says so once', async () => {
		for (const isDirect of [true, false]) {
			const warnings: unknown[] = [];
			const log = { warn: (...values: unknown[]) => warnings.push(values.at(-1)) } as never;
			const store = segmented(existsSync('/dev/shm') && isDirect ? newRoot('/dev/shm') : newRoot(), { isDirect, log });
			const content = Buffer.alloc(200_000, 'y');
			const keys = await Promise.all([1, 2, 3].map(() => put(store, keyOf('1.1'), content)));
			for (const key of keys) assert.ok((await read(store, key)).equals(Buffer.concat([head, content])));
			assert.ok(warnings.length <= 1, 'said once');
		}
	});

	test('removes an object for good, whichever process does; a move leaves it where it is', async () => {
		const root = newRoot();
		const store = segmented(root);
		const [first, second] = [await put(store, keyOf('1.1'), Buffer.from('first')), await put(store, keyOf('1.2'), Buffer.from('second'))];
		const other = segmented(root);
		assert.deepEqual([await other.remove(first), await store.remove(first)], [true, false]);
		assert.deepEqual([await store.size(first), await store.size(second)], [undefined, 10]);
		assert.deepEqual(await listed(store), [second]);
		await store.move(second, quarantineKey(second));
		assert.deepEqual([await store.size(quarantineKey(second)), await store.size(second)], [10, 10]);
		await assert.rejects(store.move(first, quarantineKey(first)), refused('not-found'));
	});

	test('gives out nothing at a place where another object lies, or none', async () => {
		const store = segmented();
		const key = await put(store, keyOf('1.1'), Buffer.from('mine'));
		const place = placeOf(key);
		assert.ok(place);
		for (const other of [
			{ ...place, siteId: '00000000-0000-4000-8000-000000000001' },
			{ ...place, id: '0'.repeat(32) },
			{ ...place, offset: place.offset + 8 },
			{ ...place, segment: '0'.repeat(32) },
		]) {
			assert.equal(await store.size(placedKey(other)), undefined);
			await assert.rejects(read(store, placedKey(other)), refused('not-found'));
		}
	});

	test('where the disk takes nothing, refuses the object, keeps no memory and goes on when it does again', async () => {
		const root = newRoot();
		const store = segmented(root);
		await put(store, keyOf('1.1'), Buffer.alloc(100_000));
		const [path = ''] = segmentFiles(root);
		await store.close();
		const blocked = segmented(path);
		for (const size of [100, 100_000]) {
			await assert.rejects(put(blocked, keyOf('1.2'), Buffer.alloc(size)), refused('unavailable'));
			await assert.rejects(place(blocked, Buffer.alloc(size)), refused('unavailable'));
		}
		assert.equal(blocksInUse(), 0);
	});

	test('leaves nothing of what is abandoned, at any moment', async () => {
		const root = newRoot();
		const store = segmented(root);
		const begun = store.begin(head);
		await begun.write(Buffer.alloc(600_000));
		const finished = store.begin(head);
		await finished.write(Buffer.alloc(600_000));
		await finished.finish();
		for (const writer of [begun, finished]) {
			await Promise.all([writer.abandon(), writer.abandon()]);
			assert.equal(writer.write(Buffer.alloc(10)), undefined);
		}
		assert.equal(blocksInUse(), 0);
		await assert.rejects(finished.publish(keyOf('1.1'), about), /not finished/);
		assert.deepEqual(await listed(store), []);
	});
});

describe('what a crash or a fault of the disk leaves', () => {
	test('a tail that was torn off at any byte hides none of the records before it', async () => {
		const root = newRoot();
		const store = segmented(root);
		const sizes = [3000, 200_000, 500, 100_000];
		const keys: string[] = [];
		for (const size of sizes) keys.push(await put(store, keyOf('1.1'), Buffer.alloc(size, 'z')));
		await store.close();
		const [path = ''] = segmentFiles(root);
		const ends = keys.map((key, index) => (placeOf(key)?.offset ?? 0) + (sizes[index] ?? 0));
		for (let index = keys.length - 1; index >= 0; index--) {
			for (const cut of [ends[index], (placeOf(keys[index] as string)?.offset ?? 0) + 60]) {
				truncateSync(path, cut);
				const reopened = segmented(root);
				const found = await scanned(reopened);
				assert.equal(found.filter(({ record }) => record).length, index, `cut at ${cut}`);
				assert.equal(found.at(-1)?.gap?.end, cut, 'the torn tail is a gap');
				assert.equal(await reopened.size(keys[index] as string), undefined);
				for (const key of keys.slice(0, index)) assert.ok((await reopened.size(key)) !== undefined);
			}
		}
	});

	test('a head that is damaged hides its own record and no other', async () => {
		const root = newRoot();
		const store = segmented(root);
		const keys: string[] = [];
		for (const size of [3000, 200_000, 500, 100_000, 10, 7]) keys.push(await put(store, keyOf('1.1'), Buffer.alloc(size, 'z')));
		const [path = ''] = segmentFiles(root);
		for (const damaged of [1, 2, 4]) {
			const fd = openSync(path, 'r+');
			writeSync(fd, Buffer.from('damage'), 0, 6, (placeOf(keys[damaged] as string)?.offset ?? 0) + 50);
			closeSync(fd);
		}
		assert.deepEqual(await listed(segmented(root)), [keys[0], keys[3], keys[5]]);
		assert.equal(await store.size(keys[1] as string), undefined);
	});

	test('an image that contains a segment is one object', async () => {
		const root = newRoot();
		const store = segmented(root);
		await put(store, keyOf('1.1'), Buffer.alloc(9000, 'a'));
		const [path = ''] = segmentFiles(root);
		const key = await put(store, keyOf('1.2'), readFileSync(path));
		const next = await put(store, keyOf('1.3'), Buffer.alloc(10));
		assert.deepEqual((await listed(store)).slice(1), [key, next]);
	});
});
