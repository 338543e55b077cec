import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	existsSync,
	globSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import { closeFile, openFile } from '#storage/objects/file-system.ts';
import { FileWriter } from '#storage/objects/file-writer.ts';
import { isObjectKey, newObjectKey, publishedKey, quarantineKey } from '#storage/objects/object-key.ts';
import type { ByteRange, ObjectStore } from '#storage/objects/object-store.ts';
import { openObjectStore } from '#storage/objects/open.ts';
import { sweepObjects } from '#storage/objects/sweep.ts';

const roots: string[] = [];
after(() => {
	for (const root of roots) rmSync(root, { recursive: true, force: true });
});

function newRoot(): string {
	const root = mkdtempSync(join(tmpdir(), 'tributary-objects-'));
	roots.push(root);
	return join(root, 'objects');
}

const siteId = newId();
const keyOf = (sopInstanceUid: string) => newObjectKey({ siteId, studyUid: '1.2.3', seriesUid: '1.2.3.4', sopInstanceUid });
/** A further key in the folder of another. */
const againOf = (key: string) => key.replace(/[0-9a-f]{32}\.dcm$/, `${newId().replaceAll('-', '')}.dcm`);
const head = Buffer.from('head');

async function put(store: ObjectStore, key: string, content: Buffer): Promise<void> {
	const writer = store.begin(head);
	await writer.write(content);
	await writer.finish();
	await writer.publish(key);
}

async function read(store: ObjectStore, key: string, range?: ByteRange): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	for await (const chunk of store.read(key, range)) chunks.push(chunk);
	return Buffer.concat(chunks);
}

const temporary = (root: string) => globSync('incoming/*/*', { cwd: root });
const refused = (code: string) => (error: unknown) => error instanceof Failure && error.code === code;

describe('file store', () => {
	test('an object comes back byte for byte, whole and in ranges; bytes and digest are told', async () => {
		const root = newRoot();
		const store = new FileStore(root);
		const content = Buffer.alloc(3_000_001, 'abcdefg');
		const key = keyOf('1.2.3.4.5');
		const writer = store.begin(head);
		for (let at = 0; at < content.length; at += 70_000) await writer.write(content.subarray(at, at + 70_000));
		const finished = await writer.finish();
		assert.deepEqual(finished, { bytes: content.length + 4, digest: createHash('sha256').update(content).digest('hex') });
		assert.equal(await store.size(key), undefined);
		await writer.publish(key);
		assert.deepEqual(temporary(root), []);
		assert.equal(await store.size(key), content.length + 4);
		assert.ok((await read(store, key)).equals(Buffer.concat([head, content])));
		assert.equal((await read(store, key, { start: 2, end: 7 })).toString(), 'adabc');
		assert.equal((await read(store, key, { start: 3, end: 3 })).length, 0);
	});

	test('a sender that is faster than the disk is told to wait', async () => {
		const store = new FileStore(newRoot());
		const writer = store.begin(head);
		const chunk = Buffer.alloc(128 * 1024);
		const answers = Array.from({ length: 6 }, () => writer.write(chunk));
		assert.deepEqual(answers.map((answer) => answer instanceof Promise).slice(0, 2), [false, false]);
		assert.ok(answers.at(-1) instanceof Promise);
		await answers.at(-1);
		await writer.abandon();
	});

	test('what is abandoned leaves nothing, at any moment and however often', async () => {
		const root = newRoot();
		const store = new FileStore(root);
		const steps = [
			async () => store.begin(head),
			async () => {
				const writer = store.begin(head);
				void writer.write(Buffer.alloc(900_000));
				return writer;
			},
			async () => {
				const writer = store.begin(head);
				await writer.write(Buffer.alloc(900_000));
				void writer.finish();
				return writer;
			},
			async () => {
				const writer = store.begin(head);
				await writer.finish();
				return writer;
			},
		];
		for (const step of steps) {
			const writer = await step();
			await Promise.all([writer.abandon(), writer.abandon()]);
			await writer.abandon();
			assert.equal(writer.write(Buffer.alloc(10)), undefined);
		}
		assert.deepEqual(temporary(root), []);
	});

	test('to abandon what was published changes nothing', async () => {
		const store = new FileStore(newRoot());
		const key = keyOf('1.2.3.4.5');
		const writer = store.begin(head);
		await writer.finish();
		await writer.publish(key);
		await writer.abandon();
		assert.equal(await store.size(key), 4);
	});

	test('a disk that is full is a failure told at the end, whatever else is written', {
		skip: !existsSync('/dev/full') && 'no /dev/full',
	}, async () => {
		const opened = openFile('/dev/full', 'w');
		const writer = new FileWriter(join(newRoot(), 'none.part'), opened, head, () => assert.fail('nothing to publish'));
		for (let count = 0; count < 20; count++) await writer.write(Buffer.alloc(100_000));
		await assert.rejects(writer.finish(), { name: 'Failure', code: 'unavailable', message: 'the object store is full' });
		await assert.rejects(closeFile(await opened), { code: 'EBADF' });
		await writer.abandon();
		await assert.rejects(writer.publish(keyOf('1.1')), /not finished/);
	});

	test('where no file can be made, nothing is taken', async () => {
		const root = newRoot();
		writeFileSync(root, 'a file, not a folder');
		const writer = new FileStore(root).begin(head);
		await assert.rejects(writer.finish(), refused('unavailable'));
		const other = newRoot();
		const store = new FileStore(other);
		const late = store.begin(head);
		await late.finish();
		writeFileSync(join(other, siteId), 'a file, not a folder');
		await assert.rejects(late.publish(keyOf('1.1')), refused('unavailable'));
		assert.deepEqual(temporary(other), []);
	});

	test('many objects of one series at once are each durable and whole', async () => {
		const root = newRoot();
		const store = new FileStore(root);
		const keys = Array.from({ length: 60 }, (_, index) => keyOf(`1.2.3.4.${index}`));
		await Promise.all(keys.map((key) => put(store, key, Buffer.from(key))));
		for (const key of keys) assert.equal((await read(store, key)).toString(), `head${key}`);
		const listed: string[] = [];
		for await (const { key } of store.list()) listed.push(key);
		assert.deepEqual(listed.sort(), keys.sort());
	});

	test('objects of more series at once than folders are kept open are each durable and whole', async () => {
		const store = new FileStore(newRoot());
		const keys = Array.from({ length: 700 }, (_, index) =>
			newObjectKey({ siteId, studyUid: `1.2.${index}`, seriesUid: `1.2.${index}.1`, sopInstanceUid: `1.2.${index}.1.1` }),
		);
		// Twice: made folders are synced in one go, and known ones as well.
		for (const round of ['first', 'second']) await Promise.all(keys.map((key) => put(store, againOf(key), Buffer.from(round))));
		const listed: string[] = [];
		for await (const { key } of store.list()) listed.push(key);
		assert.equal(listed.length, 1400);
	});

	test('an empty folder that somebody removed is made again', async () => {
		const root = newRoot();
		const store = new FileStore(root);
		await put(store, keyOf('1.1'), Buffer.alloc(1));
		rmSync(join(root, siteId), { recursive: true });
		rmSync(join(root, 'incoming'), { recursive: true });
		const key = keyOf('1.2');
		await put(store, key, Buffer.alloc(1));
		assert.equal(await store.size(key), 5);
	});

	test('remove tells whether there was something; reading what is not there is not-found', async () => {
		const store = new FileStore(newRoot());
		const key = keyOf('1.1');
		await put(store, key, Buffer.alloc(1));
		assert.deepEqual([await store.remove(key), await store.remove(key)], [true, false]);
		await assert.rejects(read(store, key), refused('not-found'));
	});

	test('a move can be repeated; with neither key there it is not-found', async () => {
		const store = new FileStore(newRoot());
		const key = keyOf('1.1');
		await put(store, key, Buffer.from('kept'));
		await store.move(key, quarantineKey(key));
		await store.move(key, quarantineKey(key));
		assert.equal(await store.size(key), undefined);
		assert.equal((await read(store, quarantineKey(key))).toString(), 'headkept');
		await assert.rejects(store.move(keyOf('1.2'), keyOf('1.3')), refused('not-found'));
	});

	test('no key but ours reaches the disk', async () => {
		const store = new FileStore(newRoot());
		const good = keyOf('../../etc/passwd');
		assert.ok(isObjectKey(good) && isObjectKey(quarantineKey(good)));
		const wrong = [
			'',
			'..',
			'/etc/passwd',
			`../${good}`,
			`${good}/..`,
			`quarantine/../${good}`,
			`${good}\0`,
			`${good}\n`,
			good.toUpperCase(),
			'incoming/x/1.part',
		];
		for (const key of wrong) {
			assert.ok(!isObjectKey(key), key);
			await assert.rejects(store.size(key), TypeError);
			await assert.rejects(read(store, key), TypeError);
			await assert.rejects(store.remove(key), TypeError);
			await assert.rejects(store.move(good, key), TypeError);
		}
		assert.throws(() => newObjectKey({ siteId: '../..', studyUid: '1', seriesUid: '1', sopInstanceUid: '1' }), TypeError);
	});
});

describe('temporary files', () => {
	test('those of processes that ended are removed, those of the living stay', async () => {
		const root = newRoot();
		const store = new FileStore(root);
		const writer = store.begin(head);
		await writer.write(Buffer.alloc(600_000));
		const [own = ''] = readdirSync(join(root, 'incoming'));
		const [host = ''] = own.split('-');
		const dead = spawnSync(process.execPath, ['-e', '']).pid;
		const folders = {
			[`${host}-${dead}-000000000000`]: 2,
			[`${host}-${process.pid}-000000000000`]: 1,
			[`${host}-${process.ppid}-000000000000`]: 0,
			'0123456789abcdef-1-000000000000': 0,
			'fedcba9876543210-1-000000000000': 1,
			'something-else': 0,
		};
		for (const folder of Object.keys(folders)) {
			mkdirSync(join(root, 'incoming', folder));
			for (let file = 0; file < (folders[folder as keyof typeof folders] || 1); file++)
				writeFileSync(join(root, 'incoming', folder, `${file}.part`), 'x');
		}
		const longAgo = new Date(Date.now() - 2 * 86_400_000);
		utimesSync(join(root, 'incoming/fedcba9876543210-1-000000000000'), longAgo, longAgo);
		assert.equal(await store.removeTemporary(), 4);
		const left = [own, ...Object.entries(folders).flatMap(([folder, removed]) => (removed === 0 ? [folder] : []))];
		assert.deepEqual(readdirSync(join(root, 'incoming')).sort(), left.sort());
		await writer.finish();
		await writer.publish(keyOf('1.1'));
	});

	test('a store that was never used has none', async () => {
		assert.equal(await new FileStore(newRoot()).removeTemporary(), 0);
	});
});

describe('the sweep', () => {
	test('finds objects that the index does not know, spares young and quarantined ones, and removes when asked to', async () => {
		const store = new FileStore(newRoot());
		const [known, orphan, conflict, lost] = ['1.1', '1.2', '1.3', '1.4'].map(keyOf) as [string, string, string, string];
		for (const key of [known, orphan, conflict, lost]) await put(store, key, Buffer.alloc(6));
		for (const key of [conflict, lost]) await store.move(key, quarantineKey(key));
		const asked: string[] = [];
		const knows = async (keys: readonly string[]) => {
			asked.push(...keys);
			return new Set([known, conflict]);
		};
		const options = { knows, before: Date.now() + 60_000, remove: false };
		const counted = await sweepObjects(store, options);
		assert.deepEqual(asked.sort(), [known, orphan, conflict, lost].sort());
		assert.deepEqual(
			{ ...counted, examples: counted.examples.map(publishedKey).sort() },
			{
				objects: 4,
				bytes: 40,
				orphans: 2,
				removed: 0,
				examples: [orphan, lost].sort(),
			},
		);
		assert.equal((await sweepObjects(store, { ...options, before: Date.now() - 60_000 })).objects, 0);
		assert.equal((await sweepObjects(store, { ...options, remove: true })).removed, 1);
		assert.deepEqual([await store.size(known), await store.size(orphan), await store.size(quarantineKey(lost))], [10, undefined, 10]);
	});
});

describe('OBJECT_STORE_URL', () => {
	test('names an absolute folder', async () => {
		const root = newRoot();
		for (const url of [`file:${root}`, `file://${root}/`]) {
			const key = keyOf('1.1');
			await put(openObjectStore(url), key, Buffer.from('x'));
			assert.equal(readFileSync(join(root, key), 'utf8'), 'headx');
			assert.equal(statSync(join(root, key)).mode & 0o007, 0);
		}
		for (const url of ['file:relative', 's3://bucket/prefix', '']) assert.throws(() => openObjectStore(url), Error);
	});
});
