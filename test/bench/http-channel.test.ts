import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { answerLength, httpChannel } from '../../bench/load/http-channel.ts';

test('an answer ends where its length or its last chunk says, and not before', () => {
	const cases: readonly [string, number | undefined][] = [
		['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n', undefined],
		['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab', undefined],
		['HTTP/1.1 200 OK\r\ncontent-length:3\r\n\r\nabcHTTP', 40],
		['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n', undefined],
		['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n', 60],
		['HTTP/1.1 204 No Content\r\n\r\n', 27],
	];
	for (const [text, length] of cases) assert.equal(answerLength(text), length, JSON.stringify(text));
});

test('a channel sends one request after the other over one connection, and tells which were accepted', async (t) => {
	const server = createServer(async (request, response) => {
		let body = '';
		for await (const chunk of request) body += chunk;
		response.writeHead(body === 'ü1' ? 500 : 200).end(`${request.headers['x-api-key']}`);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.after(() => server.close());
	const { port } = server.address() as AddressInfo;
	let connections = 0;
	server.on('connection', () => {
		connections += 1;
	});
	const requestOf = (number: number) => ({ method: 'POST' as const, path: '/', body: `ü${number}` });
	const channel = await httpChannel({ port, key: 'secret', contentType: 'text/plain', requestOf });
	assert.deepEqual([await channel.send(0), await channel.send(1), await channel.send(2)], [true, false, true]);
	assert.equal(connections, 1);
	const waiting = assert.rejects(channel.send(3));
	channel.close();
	await waiting;
});
