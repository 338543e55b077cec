import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { FileStore } from '#storage/objects/file-store.ts';
import { closeFile, openFile } from '#storage/objects/file-system.ts';
import { FileWriter } from '#storage/objects/file-writer.ts';
import { newObjectKey } from '#storage/objects/object-key.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { newOwner } from '#storage/objects/owner.ts';
import { about, againOf, head, keyOf, newRoot, put, refused, siteId, temporary } from './support.ts';

describe('files', () => {
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

	test('a disk that is full is a failure told at the end, whatever else is written', {
		skip: !existsSync('/dev/full') && 'no /dev/full',
	}, async () => {
		const opened = openFile('/dev/full', 'w');
		const writer = new FileWriter(join(newRoot(), 'none.part'), opened, head, {
			publish: () => assert.fail('nothing to publish'),
			sync: () => assert.fail('nothing to sync'),
		});
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
		await assert.rejects(late.publish(keyOf('1.1'), about), refused('unavailable'));
		assert.deepEqual(temporary(other), []);
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
});

describe('a whole object at once', () => {
	test('is there when it is durable, and again when its folders were removed', async () => {
		const root = newRoot();
		const store = new FileStore(root);
		const bytes = Buffer.alloc(70_000, 7);
		await Promise.all(['1.1', '1.2'].map((uid) => store.put(keyOf(uid), bytes)));
		for (const folder of [siteId, 'incoming']) rmSync(join(root, folder), { recursive: true });
		const key = keyOf('1.3');
		await store.put(key, bytes);
		assert.ok(readFileSync(join(root, key)).equals(bytes));
		assert.deepEqual(temporary(root), []);
	});

	test('that the disk does not take leaves nothing', async () => {
		const noRoot = newRoot();
		writeFileSync(noRoot, 'a file, not a folder');
		await assert.rejects(new FileStore(noRoot).put(keyOf('1.1'), head), refused('unavailable'));
		const root = newRoot();
		const store = new FileStore(root);
		await store.put(keyOf('1.1'), head);
		rmSync(join(root, siteId), { recursive: true });
		writeFileSync(join(root, siteId), 'a file, not a folder');
		await assert.rejects(store.put(keyOf('1.2'), head), refused('unavailable'));
		assert.deepEqual(temporary(root), []);
		await assert.rejects(store.put('../1.dcm', head), TypeError);
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
			[newOwner(process.ppid)]: 0,
			// Its number belongs to another process by now.
			[newOwner(process.ppid).replace(/-\d+$/, '-1')]: 1,
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
		assert.equal(await store.removeTemporary(), 5);
		const left = [own, ...Object.entries(folders).flatMap(([folder, removed]) => (removed === 0 ? [folder] : []))];
		assert.deepEqual(readdirSync(join(root, 'incoming')).sort(), left.sort());
		await writer.finish();
		await writer.publish(keyOf('1.1'), about);
	});

	test('a store that was never used has none', async () => {
		assert.equal(await new FileStore(newRoot()).removeTemporary(), 0);
	});
});

describe('OBJECT_STORE_URL', () => {
	test('names an absolute folder or a bucket', async () => {
		const root = newRoot();
		for (const url of [`file:${root}`, `file://${root}/`]) {
			const key = keyOf('1.1');
			await put(configuredObjectStore({ OBJECT_STORE_URL: url, DATA_DIR: '.' }), key, Buffer.from('x'));
			assert.equal(readFileSync(join(root, key), 'utf8'), 'headx');
			assert.equal(statSync(join(root, key)).mode & 0o007, 0);
		}
		for (const url of ['file:relative', 's3://', 's3://UPPER', 's3://bucket/a?b', 'https://bucket', ''])
			assert.throws(() => configuredObjectStore({ OBJECT_STORE_URL: url, DATA_DIR: '.' }), Error, url);
	});
});
