import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { newId } from '#core/id.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import { isObjectKey, newObjectKey, publishedKey, quarantineKey } from '#storage/objects/object-key.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { S3Store } from '#storage/objects/s3-store.ts';
import { sweepObjects } from '#storage/objects/sweep.ts';
import { needs, without } from '#test/support/needs.ts';
import { S3Server } from '#test/support/s3-server.ts';
import { about, accessTo, head, keyOf, newRoot, put, read, refused, temporary } from './support.ts';

/** What every object store keeps to. */

const server = new S3Server();
let endpoint = '';
before(async () => {
	endpoint = await server.listen();
});
after(() => server[Symbol.asyncDispose]());

interface Kind {
	name: string;
	skip?: string | false;
	/** An empty store, and what lies about of objects that are not published. */
	open(): { store: ObjectStore; leftovers(): unknown[] };
}

const kinds: Kind[] = [
	{
		name: 'file store',
		open: () => {
			const root = newRoot();
			return { store: new FileStore(root), leftovers: () => temporary(root) };
		},
	},
	{
		name: 'S3 store',
		open: () => {
			const root = newRoot();
			const access = accessTo(endpoint, server.accessKeyId);
			server.objects.clear();
			server.uploads.clear();
			// Small parts, so that what is uploaded and copied in parts goes the same ways as the rest.
			const sizes = { partBytes: 1024 * 1024, copyBytesMax: 1024 * 1024 };
			const store = new S3Store({ bucket: server.bucket, prefix: 'a prefix/', spool: `${root}/incoming`, access, ...sizes });
			return { store, leftovers: () => [...temporary(root), ...server.uploads.keys()] };
		},
	},
	{
		name: 'S3 store in a bucket of a real store',
		skip: without('bucket'),
		open: () => {
			const root = newRoot();
			const access = accessTo(process.env['AWS_ENDPOINT_URL_S3'] ?? '', process.env['AWS_ACCESS_KEY_ID'] ?? '');
			// The store has to take parts of that size; see test/ops/ceph.ts.
			const sizes = { partBytes: 1024 * 1024, copyBytesMax: 1024 * 1024 };
			const store = new S3Store({
				bucket: needs.bucket.found ?? '',
				prefix: `${newId()}/a prefix/`,
				spool: `${root}/incoming`,
				access,
				...sizes,
			});
			return { store, leftovers: () => temporary(root) };
		},
	},
];

for (const { name, skip = false, open } of kinds) {
	describe(name, { skip }, () => {
		test('an object comes back byte for byte, whole and in ranges; bytes and digest are told', async () => {
			const { store, leftovers } = open();
			const content = Buffer.alloc(3_000_001, 'abcdefg');
			const key = keyOf('1.2.3.4.5');
			const writer = store.begin(head);
			const chunk = Buffer.alloc(70_000);
			for (let at = 0; at < content.length; at += chunk.length) {
				const held = writer.write(chunk.subarray(0, content.copy(chunk, 0, at)));
				// The chunk is not kept, whether or not the writer wants a rest.
				chunk.fill(0);
				await held;
			}
			const finished = await writer.finish();
			assert.deepEqual(finished, { bytes: content.length + 4, digest: createHash('sha256').update(content).digest('hex') });
			assert.equal(await store.size(key), undefined);
			await writer.publish(key, about);
			assert.deepEqual(leftovers(), []);
			assert.equal(await store.size(key), content.length + 4);
			assert.ok((await read(store, key)).equals(Buffer.concat([head, content])));
			assert.equal((await read(store, key, { start: 2, end: 7 })).toString(), 'adabc');
			assert.equal((await read(store, key, { start: 3, end: 3 })).length, 0);
		});

		test('what is abandoned leaves nothing, at any moment and however often', async () => {
			const { store, leftovers } = open();
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
			assert.deepEqual(leftovers(), []);
		});

		test('to abandon what was published changes nothing', async () => {
			const { store } = open();
			const key = keyOf('1.2.3.4.5');
			const writer = store.begin(head);
			await writer.finish();
			await writer.publish(key, about);
			await writer.abandon();
			assert.equal(await store.size(key), 4);
		});

		test('many objects of one series at once are each durable and whole', async () => {
			const { store } = open();
			const keys = Array.from({ length: 60 }, (_, index) => keyOf(`1.2.3.4.${index}`));
			await Promise.all(keys.map((key) => put(store, key, Buffer.from(key))));
			for (const key of keys) assert.equal((await read(store, key)).toString(), `head${key}`);
			const listed: string[] = [];
			for await (const { key } of store.list()) listed.push(key);
			assert.deepEqual(listed.sort(), keys.sort());
		});

		test('remove tells whether there was something; reading what is not there is not-found', async () => {
			const { store } = open();
			const key = keyOf('1.1');
			await put(store, key, Buffer.alloc(1));
			assert.deepEqual([await store.remove(key), await store.remove(key)], [true, false]);
			await assert.rejects(read(store, key), refused('not-found'));
		});

		test('a move can be repeated; with neither key there it is not-found', async () => {
			const { store } = open();
			const key = keyOf('1.1');
			await put(store, key, Buffer.from('kept'));
			await store.move(key, quarantineKey(key));
			await store.move(key, quarantineKey(key));
			assert.equal(await store.size(key), undefined);
			assert.equal((await read(store, quarantineKey(key))).toString(), 'headkept');
			await assert.rejects(store.move(keyOf('1.2'), keyOf('1.3')), refused('not-found'));
		});

		test('no key but ours reaches the disk', async () => {
			const { store } = open();
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

		test('finds objects that the index does not know, spares young and quarantined ones, and removes when asked to', async () => {
			const { store } = open();
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
					skipped: 0,
					bytes: 40,
					orphans: 2,
					removed: 0,
					examples: [orphan, lost].sort(),
				},
			);
			const young = await sweepObjects(store, { ...options, before: Date.now() - 60_000 });
			assert.deepEqual([young.objects, young.skipped], [0, 4]);
			assert.equal((await sweepObjects(store, { ...options, remove: true })).removed, 1);
			assert.deepEqual([await store.size(known), await store.size(orphan), await store.size(quarantineKey(lost))], [10, undefined, 10]);
		});
	});
}
