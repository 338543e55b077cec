import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { quarantineKey } from '#storage/objects/object-key.ts';
import { S3Store } from '#storage/objects/s3-store.ts';
import { eventually } from '#test/support/eventually.ts';
import { type S3Fault, type S3Request, S3Server } from '#test/support/s3-server.ts';
import { about, accessTo, head, keyOf, newRoot, put, read, refused, temporary } from './support.ts';

const KiB = 1024;
const server = new S3Server();
let endpoint = '';
let root = '';
before(async () => {
	endpoint = await server.listen();
});
beforeEach(() => {
	server.objects.clear();
	server.uploads.clear();
	server.requests.length = 0;
	server.fault = () => undefined;
	root = newRoot();
});
after(() => server[Symbol.asyncDispose]());

function open(prefix = 'p/', bucket = server.bucket, retried?: () => void): S3Store {
	const access = { ...accessTo(endpoint, server.accessKeyId), retried };
	return new S3Store({ bucket, prefix, spool: `${root}/incoming`, access, partBytes: 256 * KiB, copyBytesMax: 256 * KiB });
}

/** The fault for the requests that fit, so many times. */
function failing(fault: S3Fault, fits: (request: S3Request) => boolean, times = Number.POSITIVE_INFINITY): void {
	let left = times;
	server.fault = (request) => (fits(request) && left-- > 0 ? fault : undefined);
}

const puts = ({ method }: S3Request) => method === 'PUT';
const nothingLeft = () => assert.deepEqual([[...server.objects.keys()], [...server.uploads.keys()], temporary(root)], [[], [], []]);

describe('an upload', () => {
	test('is made when the object is published, below the prefix; until then the bucket knows nothing of it', async () => {
		const store = open();
		const writer = store.begin(head);
		await writer.write(Buffer.alloc(600 * KiB, 1));
		await writer.finish();
		assert.deepEqual([server.requests.length, temporary(root).length], [0, 1]);
		const key = keyOf('1.1');
		await writer.publish(key, about);
		assert.deepEqual([[...server.objects.keys()], [...server.uploads.keys()], temporary(root)], [[`p/${key}`], [], []]);
		assert.equal(server.requests.filter(({ query }) => query.has('partNumber')).length, 3);
	});

	test('that the store does not answer, or answers with its own fault, is tried again', async () => {
		const faults: S3Fault[] = ['reset', { status: 500, code: 'InternalError' }, { status: 503, code: 'SlowDown' }];
		for (const [index, fault] of faults.entries()) {
			for (const [size, uid] of [
				[10, `1.${index}.1`],
				[600 * KiB, `1.${index}.2`],
			] as const) {
				failing(fault, puts, 2);
				let retried = 0;
				const store = open('p/', server.bucket, () => retried++);
				const content = Buffer.alloc(size, uid);
				const key = keyOf(uid);
				await put(store, key, content);
				assert.ok(server.objects.get(`p/${key}`)?.bytes.equals(Buffer.concat([head, content])));
				assert.equal(retried, 2, 'sent again');
				failing(fault, ({ method }) => method === 'HEAD', 1);
				assert.equal(await store.size(key), head.length + size);
				assert.equal(retried, 3, 'sent again by the SDK');
			}
		}
	});

	test('that fails leaves nothing, and is unavailable', async () => {
		const faults: [S3Fault, (request: S3Request) => boolean][] = [
			[{ status: 403, code: 'AccessDenied' }, () => true],
			['reset', puts],
			[{ status: 500, code: 'InternalError' }, puts],
			[{ status: 404, code: 'NoSuchBucket' }, () => true],
		];
		for (const [fault, fits] of faults) {
			failing(fault, fits);
			for (const size of [10, 600 * KiB]) await assert.rejects(put(open(), keyOf('1.1'), Buffer.alloc(size)), refused('unavailable'));
			nothingLeft();
		}
		failing({ status: 500, code: 'InternalError' }, ({ method, query }) => method === 'POST' && query.has('uploadId'));
		await assert.rejects(put(open(), keyOf('1.1'), Buffer.alloc(600 * KiB)), refused('unavailable'), 'what was not completed');
		nothingLeft();
	});

	test('that is refused is not tried again', async () => {
		failing({ status: 403, code: 'AccessDenied' }, puts);
		await assert.rejects(put(open(), keyOf('1.1'), Buffer.alloc(1)), refused('unavailable'));
		assert.equal(server.requests.length, 1);
	});

	test('to a store that is not there is unavailable', async () => {
		const gone = new S3Server();
		const access = accessTo(await gone.listen(), 'a');
		await gone[Symbol.asyncDispose]();
		const store = new S3Store({ bucket: 'images', prefix: '', spool: `${root}/incoming`, access });
		await assert.rejects(put(store, keyOf('1.1'), Buffer.alloc(1)), refused('unavailable'));
		await assert.rejects(store.size(keyOf('1.1')), refused('unavailable'));
		await assert.rejects(store.removeTemporary(), refused('unavailable'));
	});
});

describe('reading', () => {
	test('tells what is not there from what cannot be asked', async () => {
		const store = open();
		const key = keyOf('1.1');
		await put(store, key, Buffer.alloc(500 * KiB, 7));
		failing({ status: 403, code: 'AccessDenied' }, () => true);
		await assert.rejects(store.size(key), refused('unavailable'));
		await assert.rejects(read(store, key), refused('unavailable'));
		await assert.rejects(store.remove(key), refused('unavailable'));
		server.fault = () => undefined;
		await assert.rejects(read(open('p/', 'elsewhere'), key), refused('unavailable'), 'another bucket');
		await assert.rejects(read(open('q/'), key), refused('not-found'));
		assert.equal((await read(store, key, { start: 600 * KiB, end: 700 * KiB })).length, 0);
	});

	test('that breaks off is no shorter object', async () => {
		const store = open();
		const key = keyOf('1.1');
		await put(store, key, Buffer.alloc(500 * KiB, 7));
		failing('cut', ({ method }) => method === 'GET');
		await assert.rejects(read(store, key), refused('unavailable'));
	});

	test('that nobody goes on with lets the connection go', async () => {
		const store = open();
		const key = keyOf('1.1');
		await put(store, key, Buffer.alloc(8 * KiB * KiB, 7));
		for await (const chunk of store.read(key)) {
			assert.ok(chunk.length > 0);
			break;
		}
		await eventually(() => server.busy() === 0, 'the end of the answer');
	});
});

describe('a move', () => {
	test('whose copy fails leaves the object where it was; one whose removal fails can be repeated', async () => {
		const store = open();
		for (const [uid, size] of [
			['1.1', 10],
			['1.2', 600 * KiB],
		] as const) {
			const key = keyOf(uid);
			await put(store, key, Buffer.alloc(size, 1));
			failing({ status: 500, code: 'InternalError' }, puts);
			await assert.rejects(store.move(key, quarantineKey(key)), refused('unavailable'));
			assert.deepEqual([await store.size(key), await store.size(quarantineKey(key)), server.uploads.size], [size + 4, undefined, 0]);
			failing({ status: 500, code: 'InternalError' }, ({ method }) => method === 'DELETE');
			await assert.rejects(store.move(key, quarantineKey(key)), refused('unavailable'));
			server.fault = () => undefined;
			await store.move(key, quarantineKey(key));
			assert.deepEqual([await store.size(key), await store.size(quarantineKey(key))], [undefined, size + 4]);
		}
	});
});

describe('what a crash leaves behind', () => {
	test('uploads of the day before are aborted, those of today and of others stay', async () => {
		const longAgo = new Date(Date.now() - 2 * 86_400_000);
		const keys = [1, 2, 3].map((number) => `p/${keyOf(`1.${number}`)}`);
		for (const key of [...keys, 'elsewhere/x', 'p/not-ours'])
			server.uploads.set(`old ${key}`, { key, initiated: longAgo, parts: new Map() });
		server.uploads.set('young', { key: `p/${keyOf('1.9')}`, initiated: new Date(), parts: new Map() });
		assert.equal(await open().removeTemporary(), 3);
		assert.deepEqual([...server.uploads.keys()].sort(), ['old elsewhere/x', 'old p/not-ours', 'young']);
	});

	test('objects of another prefix are not listed', async () => {
		await put(open('other/'), keyOf('1.1'), Buffer.alloc(1));
		server.objects.set('p/readme.txt', { bytes: Buffer.alloc(1), changed: new Date() });
		const listed = [];
		for await (const { key } of open().list()) listed.push(key);
		assert.deepEqual(listed, []);
	});
});

describe('a pin', () => {
	test('keeps what is removed for a backup, on every node, until nobody holds one', async () => {
		const store = open();
		const [first, second, aside] = await Promise.all(['1.1', '1.2', '1.3'].map((uid) => put(store, keyOf(uid), Buffer.alloc(10, 1))));
		assert.ok(first !== undefined && second !== undefined && aside !== undefined);
		await store.move(aside, quarantineKey(aside));
		const backup = open();
		const pin = await backup.pins.take('host-1-0');
		assert.deepEqual([await store.remove(first), await store.size(first)], [true, undefined]);
		await store.remove(quarantineKey(aside));
		for (const key of [first, quarantineKey(aside)]) {
			const held = await backup.held(key);
			assert.equal(held?.bytes, head.length + 10);
			const chunks: Uint8Array[] = [];
			for await (const chunk of held.content()) chunks.push(chunk);
			assert.deepEqual(Buffer.concat(chunks), Buffer.concat([head, Buffer.alloc(10, 1)]));
		}
		const listed: string[] = [];
		for await (const { key } of store.list()) listed.push(key);
		assert.deepEqual(listed, [second], 'they are no objects of the store any more');
		// Another node starts meanwhile.
		await open().removeTemporary();
		assert.notEqual(await backup.held(first), undefined);
		assert.equal(await open('q/').pins.any(), false, 'another prefix is another store');
		await pin.release();
		await backup.removeHeld();
		assert.deepEqual([...server.objects.keys()], [`p/${second}`]);
		await store.remove(second);
		assert.deepEqual([...server.objects.keys()], []);
	});

	test('that nobody has touched for ten minutes counts no more, and the next start removes what it kept', async () => {
		const store = open();
		const key = await put(store, keyOf('1.1'), Buffer.alloc(10, 1));
		await store.pins.take('host-1-0');
		await store.remove(key);
		const [pin] = [...server.objects].flatMap(([name, stored]) => (name.startsWith('p/pins/') ? [stored] : []));
		assert.ok(pin !== undefined && (await store.pins.any()));
		pin.changed = new Date(Date.now() - 600_001);
		assert.equal(await store.pins.any(), false);
		await store.removeTemporary();
		assert.equal(await store.held(key), undefined);
		const next = await store.pins.take('host-2-0');
		assert.deepEqual([...server.objects.keys()], ['p/pins/host-2-0'], 'the old one is removed');
		await next.release();
	});

	test('that cannot be looked for keeps the object where it is', async () => {
		const store = open();
		const key = await put(store, keyOf('1.1'), Buffer.alloc(10, 1));
		failing({ status: 403, code: 'AccessDenied' }, ({ query }) => query.has('list-type'));
		await assert.rejects(store.remove(key), refused('unavailable'));
		server.fault = () => undefined;
		assert.notEqual(await store.size(key), undefined);
	});
});
