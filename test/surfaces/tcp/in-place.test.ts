import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { internalsOf, readInPlace } from '#surfaces/tcp/in-place.ts';

/** Both ends of so many connections: who connected, and who was accepted. */
async function pairs(count: number): Promise<[Socket, Socket][]> {
	const server = createServer({ allowHalfOpen: true });
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	const made: [Socket, Socket][] = [];
	for (let index = 0; index < count; index++) {
		const accepted = once(server, 'connection');
		const socket = connect(port, '127.0.0.1');
		const [other] = (await accepted) as [Socket];
		made.push([socket, other]);
	}
	server.close();
	return made;
}

describe('sockets that are read in place', () => {
	test('this Node.js has the fields; a socket with TLS has none that will do', async () => {
		const [[socket, accepted] = []] = await pairs(1);
		assert.ok(socket && accepted);
		assert.ok(internalsOf(accepted));
		assert.equal(internalsOf(new TLSSocket(accepted, { isServer: true })), undefined);
		socket.destroy();
		accepted.destroy();
	});

	test('give every byte in order and then their end, paused or not, whatever the others send', async () => {
		const length = 3_000_001;
		const received = (await pairs(4)).map(async ([socket, accepted], index) => {
			const got = Buffer.alloc(length);
			let at = 0;
			readInPlace(accepted, (bytes) => {
				at += bytes.copy(got, at);
				if (at % 7 !== 0) return;
				accepted.pause();
				setImmediate(() => accepted.resume());
			});
			accepted.resume();
			socket.end(Buffer.alloc(length, `${index} abcdefghijk`));
			await once(accepted, 'end');
			accepted.end();
			await once(socket.resume(), 'close');
			assert.equal(at, length);
			assert.deepEqual(got, Buffer.alloc(length, `${index} abcdefghijk`));
		});
		await Promise.all(received);
	});

	test('give first what was read before and put back', async () => {
		const [[socket, accepted] = []] = await pairs(1);
		assert.ok(socket && accepted);
		socket.write('head body');
		const [first] = (await once(accepted, 'data')) as [Buffer];
		accepted.pause();
		accepted.unshift(first.subarray(5));
		const got: string[] = [];
		readInPlace(accepted, (bytes) => got.push(bytes.toString()));
		accepted.resume();
		socket.end(' tail');
		await once(accepted, 'end');
		assert.equal(got.join(''), 'body tail');
		accepted.end();
	});

	test('tell that the other side is gone', async () => {
		const [[socket, accepted] = []] = await pairs(1);
		assert.ok(socket && accepted);
		readInPlace(accepted, () => undefined);
		accepted.resume();
		const failed = once(accepted, 'error');
		const closed = new Promise<void>((resolve) => accepted.once('close', () => resolve()));
		socket.resetAndDestroy();
		assert.equal(((await failed)[0] as NodeJS.ErrnoException).code, 'ECONNRESET');
		await closed;
	});
});
