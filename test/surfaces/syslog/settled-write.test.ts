import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { settledWrite } from '#surfaces/syslog/settled-write.ts';

const stallMsMax = 600_000;

/** A connection to a receiver that does this with its end. */
async function connected(t: TestContext, receive: (socket: Socket) => void): Promise<Socket> {
	const ends: Socket[] = [];
	const server = createServer((socket) => {
		ends.push(socket.on('error', () => undefined));
		receive(socket);
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
	socket.on('error', () => undefined);
	t.after(() => {
		for (const end of [socket, ...ends]) end.destroy();
		server.close();
	});
	await once(socket, 'connect');
	return socket;
}

test('a connection that is written to again and again keeps nothing of what was written', async (t) => {
	const socket = await connected(t, (end) => end.resume());
	const listeners = () => ['close', 'timeout', 'error'].map((name) => socket.listenerCount(name));
	const before = listeners();
	for (let times = 0; times < 20; times++) await settledWrite(socket, Buffer.from('event'), { settleMs: 1, stallMsMax });
	assert.deepEqual(listeners(), before);
});

test('what was written does not count as received when the connection ends after it', async (t) => {
	const socket = await connected(t, (end) => end.once('data', () => end.destroy()));
	await assert.rejects(settledWrite(socket, Buffer.from('event'), { settleMs: 600_000, stallMsMax }));
	await assert.rejects(settledWrite(socket, Buffer.from('event'), { settleMs: 600_000, stallMsMax }), 'it has ended already');
});

test('a receiver that takes the connection and does not read is given up', async (t) => {
	const socket = await connected(t, (end) => end.pause());
	await assert.rejects(settledWrite(socket, Buffer.alloc(64 * 1024 * 1024), { settleMs: 1, stallMsMax: 50 }), /does not read/);
	assert.equal(socket.timeout, 0);
});
