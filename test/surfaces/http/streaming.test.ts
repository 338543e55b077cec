import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import type { AnyRoute } from '#surfaces/http/message.ts';
import type { HttpServer } from '#surfaces/http/server.ts';
import { settled } from '#test/support/settled.ts';
import { raw } from './raw.ts';
import { serve } from './serving.ts';

const MiB = 1024 * 1024;

/** A body of many chunks that notes how far it was read and that it was left. */
class Source {
	readonly #chunkBytes: number;
	readonly #chunks: number;
	readBytes = 0;
	isLeft = false;

	constructor(chunks: number, chunkBytes: number) {
		this.#chunks = chunks;
		this.#chunkBytes = chunkBytes;
	}

	async *read(): AsyncIterable<Uint8Array> {
		try {
			for (let index = 0; index < this.#chunks; index++) {
				this.readBytes += this.#chunkBytes;
				yield Buffer.alloc(this.#chunkBytes, index % 251);
			}
		} finally {
			this.isLeft = true;
		}
	}

	get digest(): string {
		const hash = createHash('sha256');
		for (let index = 0; index < this.#chunks; index++) hash.update(Buffer.alloc(this.#chunkBytes, index % 251));
		return hash.digest('hex');
	}
}

const streamedBytesMax = 64 * MiB;
let source = new Source(1, 1);
/** What the handler of /upload has been given, and what it waits for before it reads on. */
let received = 0;
let failure: unknown;
let mayRead: Promise<void> = Promise.resolve();

const routes: AnyRoute[] = [
	{ method: 'GET', pattern: '/download', handle: () => ({ status: 200, headers: { 'Content-Type': 'text/x' }, body: source.read() }) },
	{
		method: 'GET',
		pattern: '/breaking',
		handle: () => ({
			status: 200,
			body: (async function* () {
				yield Buffer.alloc(200_000, 'x');
				await new Promise((resolve) => setImmediate(resolve));
				throw new Error('the disk is gone');
			})(),
		}),
	},
	{ method: 'GET', pattern: '/plain', handle: () => ({ status: 200, body: 'plain text' }) },
	{
		method: 'POST',
		pattern: '/upload',
		streams: true,
		bytesMax: streamedBytesMax,
		handle: async ({ body }) => {
			received = 0;
			failure = undefined;
			const hash = createHash('sha256');
			try {
				for await (const chunk of body) {
					received += chunk.length;
					hash.update(chunk);
					await mayRead;
				}
			} catch (error) {
				failure = error;
				throw error;
			}
			return { status: 200, body: `${received} ${hash.digest('hex')}` };
		},
	},
	{ method: 'POST', pattern: '/unread', streams: true, bytesMax: streamedBytesMax, handle: () => ({ status: 200, body: 'not read' }) },
	{
		method: 'POST',
		pattern: '/refusing',
		streams: true,
		bytesMax: streamedBytesMax,
		handle: () => Promise.reject(new Failure('unauthenticated', 'no key')),
	},
	{ method: 'POST', pattern: '/echo', handle: ({ body }) => ({ status: 200, body }) },
];

async function until(condition: () => boolean): Promise<void> {
	while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function open(server: HttpServer): Promise<Socket> {
	return new Promise((resolve, reject) => {
		const socket = connect(server.port, '127.0.0.1', () => resolve(socket));
		socket.once('error', reject);
	});
}

/** The length and digest of a chunked body, without its framing. */
function readChunked(socket: Socket): Promise<{ length: number; digest: string }> {
	return new Promise((resolve, reject) => {
		const hash = createHash('sha256');
		let length = 0;
		let held = Buffer.alloc(0);
		let isHead = true;
		let left = 0;
		socket.on('error', reject);
		socket.on('close', () => reject(new Error('closed within the body')));
		socket.on('data', function receive(chunk) {
			held = Buffer.concat([held, chunk]);
			if (isHead) {
				const end = held.indexOf('\r\n\r\n');
				if (end < 0) return;
				held = held.subarray(end + 4);
				isHead = false;
			}
			while (held.length > 0) {
				if (left > 2) {
					const part = held.subarray(0, left - 2);
					hash.update(part);
					length += part.length;
					left -= part.length;
					held = held.subarray(part.length);
				} else if (left > 0) {
					const end = Math.min(left, held.length);
					left -= end;
					held = held.subarray(end);
				} else {
					const end = held.indexOf('\r\n');
					if (end < 0) return;
					const size = Number.parseInt(held.toString('latin1', 0, end), 16);
					held = held.subarray(end + 2);
					if (size === 0) {
						socket.off('data', receive);
						return resolve({ length, digest: hash.digest('hex') });
					}
					left = size + 2;
				}
			}
		});
	});
}

describe('a streamed answer', () => {
	let server: HttpServer;
	before(async () => {
		server = await serve(routes, { httpRequestsMax: 2 });
	});
	after(() => server.close(100));

	test('comes whole, and the connection serves the next request', async () => {
		source = new Source(300, 100_000);
		const socket = await open(server);
		socket.write('GET /download HTTP/1.1\r\nHost: x\r\n\r\n');
		assert.deepEqual(await readChunked(socket), { length: 30_000_000, digest: source.digest });
		assert.ok(source.isLeft);
		const next = new Promise<string>((resolve) => socket.on('data', (chunk) => resolve(chunk.toString())));
		socket.write('GET /plain HTTP/1.1\r\nHost: x\r\n\r\n');
		assert.match(await next, /plain text/);
		socket.destroy();
	});

	test('is read no faster than the client takes it, and is whole in the end', async () => {
		source = new Source(2048, 65_000);
		const socket = await open(server);
		socket.pause();
		socket.write('GET /download HTTP/1.1\r\nHost: x\r\n\r\n');
		const held = await settled(() => source.readBytes);
		// The buffers of both kernels hold some.
		assert.ok(held < 32 * MiB, `${held} bytes were read for a client that takes none`);
		const whole = readChunked(socket);
		socket.resume();
		assert.deepEqual(await whole, { length: 2048 * 65_000, digest: source.digest });
		socket.destroy();
	});

	test('does not pile up before a client that takes it slowly', async () => {
		source = new Source(4096, 65_536);
		const socket = await open(server);
		let taken = 0;
		socket.write('GET /download HTTP/1.1\r\nHost: x\r\n\r\n');
		socket.on('data', (chunk) => {
			taken += chunk.length;
			socket.pause();
			setTimeout(() => socket.resume(), 1);
		});
		let ahead = 0;
		while (taken < 40 * MiB) {
			ahead = Math.max(ahead, source.readBytes - taken);
			await new Promise((resolve) => setImmediate(resolve));
		}
		assert.ok(ahead < 32 * MiB, `${ahead} bytes ahead of the client`);
		socket.destroy();
		await until(() => source.isLeft);
	});

	test('is left when the client goes away, and counts no longer as under way', async () => {
		for (let round = 0; round < 5; round++) {
			source = new Source(100_000, 65_536);
			const socket = await open(server);
			socket.write('GET /download HTTP/1.1\r\nHost: x\r\n\r\n');
			await until(() => source.readBytes > 0);
			socket.destroy();
			await until(() => source.isLeft);
		}
		assert.equal((await fetch(`http://127.0.0.1:${server.port}/plain`)).status, 200);
	});

	test('of which the client takes nothing is broken off', async () => {
		const impatient = await serve(routes, { httpStallMsMax: 1000 });
		source = new Source(100_000, 65_536);
		const socket = await open(impatient);
		socket.pause();
		socket.write('GET /download HTTP/1.1\r\nHost: x\r\n\r\n');
		await until(() => source.isLeft);
		let taken = 0;
		const closed = new Promise((resolve) => socket.once('close', resolve));
		socket.on('error', () => undefined);
		socket.on('data', (chunk: Buffer) => {
			taken += chunk.length;
		});
		socket.resume();
		await closed;
		assert.ok(taken < 100_000 * 65_536, `${taken} bytes came`);
		assert.ok(source.readBytes < 100_000 * 65_536, `${source.readBytes} bytes were read`);
		await impatient.close(100);
	});

	test('is not read for HEAD', async () => {
		source = new Source(10, 10);
		const answer = await raw(server.port, 'HEAD /download HTTP/1.1\r\nHost: x\r\n\r\n', /\r\n\r\n/);
		assert.doesNotMatch(answer, /content-length/i);
		assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
		assert.equal(source.readBytes, 0);
	});

	test('that fails on the way ends without its last chunk', async () => {
		const answer = await raw(server.port, 'GET /breaking HTTP/1.1\r\nHost: x\r\n\r\n');
		assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
		assert.doesNotMatch(answer, /\r\n0\r\n\r\n$/);
		assert.doesNotMatch(answer, /disk/);
	});
});

describe('a streamed request', () => {
	let server: HttpServer;
	before(async () => {
		server = await serve(routes, { httpBodyBytesMax: 1000, httpWaitingBytesMax: 4 * MiB, httpRequestsMax: 4 });
	});
	after(() => server.close(100));

	const post = (path: string, length: number) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

	test('may be longer than bodies that are collected, and than all of them together', async () => {
		const body = Buffer.alloc(20 * MiB, 'abcdefg');
		const answer = await fetch(`http://127.0.0.1:${server.port}/upload`, { method: 'POST', body });
		assert.equal(await answer.text(), `${body.length} ${createHash('sha256').update(body).digest('hex')}`);
	});

	test('comes by chunked coding as well, and may be empty', async () => {
		const chunked = await raw(
			server.port,
			['POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n', '3\r\nabc\r\n', '2\r\nde\r\n', '0\r\n\r\n'],
			/\r\n\r\n5 \w{64}/,
		);
		assert.match(chunked, new RegExp(`5 ${createHash('sha256').update('abcde').digest('hex')}$`));
		assert.match(await raw(server.port, post('/upload', 0), /\r\n\r\n0 \w{64}/), /\r\n\r\n0 \w{64}$/);
	});

	test('holds its sender back while the handler does not read', async () => {
		let release = () => {};
		mayRead = new Promise((resolve) => {
			release = resolve;
		});
		const socket = await open(server);
		const body = Buffer.alloc(streamedBytesMax, 'x');
		const answer = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())));
		socket.write(post('/upload', body.length));
		let sent = 0;
		const send = () => {
			while (sent < body.length) {
				const piece = body.subarray(sent, sent + 256 * 1024);
				sent += piece.length;
				if (!socket.write(piece)) return socket.once('drain', send);
			}
			return undefined;
		};
		send();
		const held = await settled(() => sent);
		assert.ok(held < 32 * MiB, `${held} bytes were taken before the handler read them`);
		// Others are served meanwhile: what waits of a streamed body is little.
		assert.match(await raw(server.port, `${post('/echo', 3)}abc`, /abc$/), /^HTTP\/1\.1 200 /);
		release();
		assert.match(await answer, new RegExp(`${body.length} \\w{64}$`));
		mayRead = Promise.resolve();
		socket.destroy();
	});

	test('over its limit is answered 413, by Content-Length and while it is read', async () => {
		const announced = await raw(server.port, post('/upload', streamedBytesMax + 1));
		assert.match(announced, /^HTTP\/1\.1 413 /);
		const chunk = `${MiB.toString(16)}\r\n${'x'.repeat(MiB)}\r\n`;
		const parts = [
			'POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
			...Array<string>(64).fill(chunk),
			'1\r\nx\r\n',
		];
		assert.match(await raw(server.port, parts), /^HTTP\/1\.1 413 [\s\S]*Connection: close[\s\S]*too-large/);
	});

	test('that is broken off fails where it is read', async () => {
		const socket = await open(server);
		failure = undefined;
		received = 0;
		socket.write(`${post('/upload', 1000)}abc`);
		await until(() => received === 3);
		socket.destroy();
		await until(() => failure !== undefined);
		assert.match(String(failure), /broke off/);
	});

	test('that is answered before it is read ends its connection', async () => {
		for (const [path, status] of [
			['/unread', 200],
			['/refusing', 401],
		] as const) {
			const answer = await raw(server.port, `${post(path, 30)}GET /plain HTTP/1.1\r\nHost: x`);
			assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*Connection: close`));
			assert.doesNotMatch(answer, /plain text/);
		}
	});

	test('leaves nothing behind that counts as waiting or under way', async () => {
		for (let round = 0; round < 10; round++) {
			const socket = await open(server);
			socket.write(`${post('/upload', 3 * MiB)}${'x'.repeat(2 * MiB)}`);
			await until(() => received >= 2 * MiB);
			received = 0;
			socket.destroy();
			await until(() => failure !== undefined);
			failure = undefined;
		}
		const body = Buffer.alloc(900, 'y');
		const answers = await Promise.all(
			Array.from({ length: 4 }, () => fetch(`http://127.0.0.1:${server.port}/echo`, { method: 'POST', body })),
		);
		assert.deepEqual(
			answers.map(({ status }) => status),
			[200, 200, 200, 200],
		);
	});
});
