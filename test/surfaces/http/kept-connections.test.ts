import assert from 'node:assert/strict';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import type { Route } from '#surfaces/http/message.ts';
import type { HttpServer } from '#surfaces/http/server.ts';
import { serve } from './serving.ts';

async function* pieces(): AsyncGenerator<Uint8Array> {
	yield Buffer.from('one ');
	yield Buffer.from('two');
}

const routes: Route[] = [
	{ method: 'GET', pattern: '/whole', handle: () => ({ status: 200, body: 'whole' }) },
	{ method: 'GET', pattern: '/bytes', handle: () => ({ status: 200, body: new Uint8Array(100_000) }) },
	{ method: 'GET', pattern: '/empty', handle: () => ({ status: 200 }) },
	{ method: 'GET', pattern: '/none', handle: () => ({ status: 204 }) },
	{ method: 'GET', pattern: '/unchanged', handle: () => ({ status: 304 }) },
	{ method: 'GET', pattern: '/pieces', handle: () => ({ status: 200, body: pieces() }) },
	{ method: 'POST', pattern: '/echo', handle: ({ body }) => ({ status: 200, body }) },
];

/** Paths, with the status and the length that HEAD tells. */
const heads: readonly [path: string, status: number, length: string | undefined][] = [
	['/whole', 200, '5'],
	['/bytes', 200, '100000'],
	['/empty', 200, '0'],
	['/none', 204, undefined],
	['/unchanged', 304, undefined],
	['/pieces', 200, undefined],
];

interface Answered {
	status: number | undefined;
	headers: IncomingHttpHeaders;
	body: string;
	/** The port of the connection on the side of the client. */
	from: number | undefined;
}

describe('a connection that is kept', () => {
	let server: HttpServer;
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	before(async () => {
		server = await serve(routes);
	});
	after(async () => {
		agent.destroy();
		await server.close(100);
	});

	function ask(method: string, path: string, body = ''): Promise<Answered> {
		return new Promise((resolve, reject) => {
			const asking = request({ host: '127.0.0.1', port: server.port, method, path, agent }, (answer) => {
				const from = answer.socket.localPort;
				let text = '';
				answer.on('data', (chunk) => {
					text += chunk;
				});
				answer.on('error', reject);
				answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: text, from }));
			});
			asking.on('error', reject);
			asking.end(body);
		});
	}

	for (const [path, status, length] of heads) {
		test(`takes the next request after HEAD ${path}`, async () => {
			const head = await ask('HEAD', path);
			assert.deepEqual([head.status, head.headers['content-length'], head.body], [status, length, '']);
			for (const text of ['first', 'second']) {
				const next = await ask('POST', '/echo', text);
				assert.deepEqual([next.status, next.body, next.from], [200, text, head.from]);
			}
		});
	}

	test('takes the next request after a HEAD that is refused', async () => {
		const head = await ask('HEAD', '/nowhere');
		const get = await ask('GET', '/nowhere');
		assert.deepEqual([head.status, head.headers['content-length']], [get.status, get.headers['content-length']]);
		assert.equal((await ask('POST', '/echo', 'next')).from, head.from);
	});
});
