import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { AnyRoute } from '#surfaces/http/message.ts';
import type { HttpServer } from '#surfaces/http/server.ts';
import { raw } from './raw.ts';
import { serve } from './serving.ts';

const MiB = 1024 * 1024;

const routes: AnyRoute[] = [
	{ method: 'GET', pattern: '/plain', handle: () => ({ status: 200, body: 'plain text' }) },
	{ method: 'POST', pattern: '/echo', handle: ({ body }) => ({ status: 200, body }) },
	{
		method: 'POST',
		pattern: '/streamed',
		streams: true,
		bytesMax: MiB,
		handle: async ({ body }) => {
			let length = 0;
			for await (const chunk of body) length += chunk.length;
			return { status: 200, body: String(length) };
		},
	},
];

const post = (path: string, more: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

/** Sends a head and then as much of a body as is wanted, whatever comes back; answers what came back until the connection ended. */
function sendAll(port: number, head: string, chunk: string, times: number): Promise<{ answer: string; error: string | undefined }> {
	return new Promise((resolve) => {
		const socket = connect(port, '127.0.0.1');
		let answer = '';
		let error: string | undefined;
		let left = times;
		socket.on('data', (data) => {
			answer += data.toString('latin1');
			if (left === 0) socket.end();
		});
		socket.on('error', (fault: NodeJS.ErrnoException) => {
			error = fault.code;
		});
		socket.on('close', () => resolve({ answer, error }));
		const send = () => {
			while (left > 0) {
				left--;
				if (!socket.write(chunk)) return socket.once('drain', send);
			}
			return undefined;
		};
		socket.write(head, send);
	});
}

describe('a body that is refused', () => {
	let server: HttpServer;
	let base: string;
	before(async () => {
		server = await serve(routes, { httpBodyBytesMax: MiB, httpDiscardBytesMax: 64 * MiB });
		base = `http://127.0.0.1:${server.port}`;
	});
	after(() => server.close(0));

	const refusals: [what: string, path: string, status: number][] = [
		['is too long', '/echo', 413],
		['is too long and streamed', '/streamed', 413],
		['has no route', '/nowhere', 404],
		['has no such method', '/plain', 405],
	];
	for (const [what, path, status] of refusals) {
		test(`because it ${what} is answered to a sender that sends it all before it reads`, async () => {
			const chunk = 'x'.repeat(65_536);
			const { answer, error } = await sendAll(server.port, post(path, `Content-Length: ${chunk.length * 160}\r\n`), chunk, 160);
			assert.equal(error, undefined);
			assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
			assert.match(answer, /"error":/);
			const framed = `10000\r\n${chunk}\r\n`;
			const chunked = await sendAll(server.port, post(path, 'Transfer-Encoding: chunked\r\n'), framed, 160);
			assert.equal(chunked.error, undefined);
			assert.match(chunked.answer, new RegExp(`^HTTP/1\\.1 ${status} `));
		});

		test(`because it ${what} is answered to fetch`, async () => {
			const body = Buffer.alloc(12 * MiB, 'x');
			for (let round = 0; round < 3; round++) {
				const answer = await fetch(base + path, { method: 'POST', body });
				assert.equal(answer.status, status);
				assert.match(await answer.text(), /"error":/);
			}
		});
	}

	test('leaves the connection to the next request', async () => {
		const body = 'x'.repeat(MiB + 1);
		const both = `${post('/echo', `Content-Length: ${body.length}\r\n`)}${body}GET /plain HTTP/1.1\r\nHost: x\r\n\r\n`;
		assert.match(await raw(server.port, both, /plain text/), /^HTTP\/1\.1 413 [\s\S]*HTTP\/1\.1 200 OK/);
	});

	test('and does not end is answered once enough of it has come', async (t) => {
		const short = await serve(routes, { httpBodyBytesMax: 1024, httpDiscardBytesMax: MiB });
		t.after(() => short.close(0));
		for (const [path, head] of [
			['/echo', `Content-Length: ${1024 * MiB}\r\n`],
			['/streamed', 'Transfer-Encoding: chunked\r\n'],
		] as const) {
			const socket = connect(short.port, '127.0.0.1');
			const answered = new Promise<string>((resolve, reject) => {
				socket.once('data', (data) => resolve(data.toString('latin1')));
				socket.once('error', reject);
			});
			const chunk = path === '/echo' ? 'x'.repeat(65_536) : `10000\r\n${'x'.repeat(65_536)}\r\n`;
			let isAnswered = false;
			const send = () => {
				while (!isAnswered) if (!socket.write(chunk)) return socket.once('drain', send);
				return undefined;
			};
			socket.write(post(path, head), send);
			const answer = await answered;
			isAnswered = true;
			assert.match(answer, /^HTTP\/1\.1 413 [\s\S]*\r\nConnection: close\r\n[\s\S]*too-large/);
			socket.destroy();
		}
	});

	test('is answered to a sender that waits before it sends', async () => {
		const head = post('/echo', `Content-Length: ${2 * MiB}\r\nExpect: 100-continue\r\n`);
		assert.match(await raw(server.port, head, /too-large/), /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 413 /);
	});
});

describe('a body that stops', () => {
	for (const path of ['/echo', '/streamed']) {
		for (const [how, parts] of [
			['by length', [post(path, 'Content-Length: 10\r\n'), 'abc']],
			['by length, before its first byte', [post(path, 'Content-Length: 10\r\n')]],
			['in chunks', [post(path, 'Transfer-Encoding: chunked\r\n'), '3\r\nabc\r\n']],
			['in chunks, before the first', [post(path, 'Transfer-Encoding: chunked\r\n')]],
		] as const) {
			test(`${how} is answered 408 (${path})`, async (t) => {
				const server = await serve(routes, { httpBodyStallMsMax: 100 });
				t.after(() => server.close(0));
				const answer = await raw(server.port, [...parts]);
				assert.match(answer, /^HTTP\/1\.1 408 [\s\S]*"code":"timed-out"/);
				assert.match(answer, /\r\nX-Request-Id: /);
			});
		}
	}

	test('and goes on in time is taken, however long it takes', async (t) => {
		const server = await serve(routes, { httpBodyStallMsMax: 60_000 });
		t.after(() => server.close(0));
		const pieces = Array.from({ length: 20 }, () => 'x');
		assert.match(await raw(server.port, [post('/echo', 'Content-Length: 20\r\n'), ...pieces], /x{20}$/), /^HTTP\/1\.1 200 /);
	});
});

describe('the head of a request', () => {
	let server: HttpServer;
	before(async () => {
		server = await serve(routes, { httpHeaderBytesMax: 16_384 });
	});
	after(() => server.close(0));

	const headOf = (bytes: number, line = 'GET /plain HTTP/1.1') => {
		const start = `${line}\r\nHost: x\r\nA: `;
		return `${start}${'b'.repeat(bytes - start.length - 4)}\r\n\r\n`;
	};

	test('may be as long as HTTP_HEADER_BYTES_MAX says, in any pieces', async () => {
		for (const bytes of [5000, 16_000]) {
			const head = headOf(bytes);
			assert.match(await raw(server.port, head, /plain text/), /^HTTP\/1\.1 200 /);
			assert.match(await raw(server.port, head.match(/[\s\S]{1,1500}/g) ?? [], /plain text/), /^HTTP\/1\.1 200 /);
		}
		const query = await fetch(`http://127.0.0.1:${server.port}/plain?${'q'.repeat(15_000)}`);
		assert.equal(query.status, 200);
	});

	test('that is longer is answered 431 in the words of the surface', async () => {
		for (const bytes of [17_000, 60_000, 120_000]) {
			const answer = await raw(server.port, headOf(bytes), /head-too-large/);
			assert.match(answer, /^HTTP\/1\.1 431 Request Header Fields Too Large\r\nX-Request-Id: /);
			assert.match(answer, /"code":"head-too-large","error":"the request line and the headers are longer than 16384 bytes"/);
			const inPieces = await raw(server.port, headOf(bytes).match(/[\s\S]{1,30000}/g) ?? [], /head-too-large/);
			assert.match(inPieces, /^HTTP\/1\.1 431 /);
		}
		const query = await fetch(`http://127.0.0.1:${server.port}/plain?${'q'.repeat(20_000)}`);
		assert.equal(query.status, 431);
	});

	test('that comes a byte a second loses its connection long before it is whole, and others are answered meanwhile', async (t) => {
		const socket = connect(server.port, '127.0.0.1');
		const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
		const head = headOf(600);
		let sent = 0;
		const drip = setInterval(() => socket.write(head.charAt(sent++)), 1000);
		t.after(() => clearInterval(drip));
		socket.on('error', () => undefined);
		socket.resume();
		assert.match(await raw(server.port, headOf(100), /plain text/), /^HTTP\/1\.1 200 /);
		await closed;
		assert.ok(sent > 0 && sent < 60, `${sent} bytes were sent`);
	});

	test('that is no HTTP/1.1 is refused by the library itself, exactly as docs/operations.md lists it', async () => {
		const host = 'Host: x\r\n';
		const chunked = post('/echo', 'Transfer-Encoding: chunked\r\n');
		const pages = {
			version: '505 HTTP Version Not Supported',
			request: '400 Bad Request',
			large: '431 Request Header Fields Too Large',
		};
		const cases: readonly [keyof typeof pages, string | string[]][] = [
			['version', `GET /plain HTTP/1.0\r\n${host}\r\n`],
			['version', `GET /plain HTTP/1.2\r\n${host}\r\n`],
			['version', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
			['version', `GET http://x/plain HTTP/1.1\r\n${host}\r\n`],
			['version', `OPTIONS * HTTP/1.1\r\n${host}\r\n`],
			['version', `GET /pl ain HTTP/1.1\r\n${host}\r\n`],
			['version', `GET /plain HTTP/1.1\n${host}\n`],
			['version', `PROXY TCP4 10.9.9.9 127.0.0.1 1 2\r\nGET /plain HTTP/1.1\r\n${host}\r\n`],
			['version', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001'],
			['request', 'GET /plain HTTP/1.1\r\nA: b\r\n\r\n'],
			['request', `GET /plain HTTP/1.1\r\n${host}${host}\r\n`],
			['request', `GET /plain HTTP/1.1\r\n${host}a b: c\r\n\r\n`],
			['request', `GET /plain HTTP/1.1\r\n${host}a : c\r\n\r\n`],
			['request', `GET /plain HTTP/1.1\r\n${host}a: c\u0001d\r\n\r\n`],
			['request', `GET /plain HTTP/1.1\r\n${host}a: c\r\n d\r\n\r\n`],
			['request', `${chunked}no length\r\n`],
			['request', [chunked, '3\r\nabc\r\n', 'zz\r\n']],
			['request', `${post('/echo', 'Transfer-Encoding: chunked\r\nContent-Length: 3\r\n')}3\r\nabc\r\n0\r\n\r\n`],
			['request', `${post('/echo', 'Content-Length: abc\r\n')}abc`],
			['request', `${post('/echo', 'Content-Length: -1\r\n')}abc`],
			['large', `GET /plain HTTP/1.1\r\n${host}${'a: b\r\n'.repeat(98)}\r\n`],
			['large', headOf(200_000)],
			['large', headOf(200_000).match(/[\s\S]{1,30000}/g) ?? []],
			['large', `GET /plain?${'q'.repeat(140_000)} HTTP/1.1\r\n${host}\r\n`],
		];
		for (const [kind, head] of cases) {
			const answer = await raw(server.port, head);
			// The newer packaging may call each of them a bad request.
			const told = [pages[kind], pages.request].map((line) => {
				const note = line === pages.version ? '<p>This server does not support HTTP/1.0.</p>' : '';
				return `HTTP/1.1 ${line}\r\nConnection: close\r\n\r\n<h1>${line.slice(4)}</h1>${note}<hr><i>uWebSockets/20 Server</i>`;
			});
			assert.ok(told.includes(answer), `${JSON.stringify(head).slice(0, 80)}: ${answer}`);
		}
		assert.match(await raw(server.port, `GET /plain HTTP/1.1\r\n${host}${'a: b\r\n'.repeat(97)}\r\n`, /plain text/), /^HTTP\/1\.1 200 /);
	});

	test('that is longer takes its body with it', async () => {
		const head = headOf(20_000, 'POST /echo HTTP/1.1').replace('Host: x', 'Host: x\r\nContent-Length: 3');
		const answer = await raw(server.port, `${head}abcGET /plain HTTP/1.1\r\nHost: x\r\n\r\n`, /plain text/);
		assert.match(answer, /^HTTP\/1\.1 431 [\s\S]*HTTP\/1\.1 200 OK/);
	});
});
