import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { preferredCoding } from '#surfaces/http/encoding.ts';
import type { Route } from '#surfaces/http/message.ts';
import type { HttpServer } from '#surfaces/http/server.ts';
import { serve } from './serving.ts';

const json = JSON.stringify({ entry: Array.from({ length: 200 }, (_, index) => ({ id: index, text: 'Ödem' })) });

function answering(pattern: string, type: string, body: string | Uint8Array, headers: Record<string, string> = {}): Route {
	return { method: 'GET', pattern, handle: () => ({ status: 200, headers: { 'Content-Type': type, ...headers }, body }) };
}

const lines = Array.from({ length: 3000 }, (_, index) => `{"line":${index}}\n`);

const routes: Route[] = [
	answering('/json', 'application/fhir+json; charset=utf-8', json),
	answering('/bytes', 'application/json', Buffer.from(json)),
	answering('/short', 'application/json', '{"a":1}'),
	answering('/image', 'image/png', Buffer.alloc(5000)),
	answering('/coded', 'application/json', Buffer.alloc(5000), { 'Content-Encoding': 'gzip' }),
	answering('/tagged', 'application/json', json, { ETag: 'W/"3"', Vary: 'Accept' }),
	answering('/strong', 'application/json', json, { ETag: '"abc"' }),
	{
		method: 'GET',
		pattern: '/lines',
		handle: () => ({
			status: 200,
			headers: { 'Content-Type': 'application/fhir+ndjson' },
			body: (async function* () {
				for (const line of lines) yield Buffer.from(line);
			})(),
		}),
	},
];

interface RawAnswer {
	status: number;
	headers: Map<string, string>;
	body: Buffer;
}

/** One request on a connection of its own; the body without its chunked coding, else as it came. */
function get(port: number, path: string, accept: string | undefined, method = 'GET'): Promise<RawAnswer> {
	return new Promise((resolve, reject) => {
		const socket = connect(port, '127.0.0.1');
		const chunks: Buffer[] = [];
		const coding = accept === undefined ? '' : `Accept-Encoding: ${accept}\r\n`;
		socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\n${coding}\r\n`);
		socket.on('error', reject);
		socket.on('data', (chunk) => {
			chunks.push(chunk);
			const answer = parse(Buffer.concat(chunks), method);
			if (answer === undefined) return;
			socket.destroy();
			resolve(answer);
		});
		socket.on('close', () => reject(new Error('the connection ended within the answer')));
	});
}

function parse(bytes: Buffer, method: string): RawAnswer | undefined {
	const end = bytes.indexOf('\r\n\r\n');
	if (end < 0) return undefined;
	const [first = '', ...fields] = bytes.toString('latin1', 0, end).split('\r\n');
	const headers = new Map(fields.map((field) => [field.split(': ')[0]?.toLowerCase() ?? '', field.slice(field.indexOf(': ') + 2)]));
	const rest = bytes.subarray(end + 4);
	const answer = { status: Number(first.split(' ')[1]), headers };
	if (method === 'HEAD') return { ...answer, body: rest };
	if (headers.get('transfer-encoding') !== 'chunked') {
		return rest.length < Number(headers.get('content-length') ?? 0) ? undefined : { ...answer, body: rest };
	}
	const parts: Buffer[] = [];
	for (let at = 0; ; ) {
		const line = rest.indexOf('\r\n', at);
		if (line < 0) return undefined;
		const size = Number.parseInt(rest.toString('latin1', at, line), 16);
		if (rest.length < line + 2 + size + 2) return undefined;
		if (size === 0) return { ...answer, body: Buffer.concat(parts) };
		parts.push(rest.subarray(line + 2, line + 2 + size));
		at = line + 2 + size + 2;
	}
}

describe('the coding that Accept-Encoding asks for', () => {
	test('is the one with the greatest weight, br of equals', () => {
		assert.equal(preferredCoding('gzip'), 'gzip');
		assert.equal(preferredCoding('gzip, deflate, br'), 'br');
		assert.equal(preferredCoding('br;q=0.5, gzip;q=0.8'), 'gzip');
		assert.equal(preferredCoding('br; q=0.5 , GZIP;Q=0.5'), 'br');
		assert.equal(preferredCoding('x-gzip'), 'gzip');
		assert.equal(preferredCoding('*'), 'br');
		assert.equal(preferredCoding('br;q=0, *;q=0.1'), 'gzip');
	});

	test('is none where neither is named, or the plain answer is wanted more', () => {
		for (const header of [undefined, '', 'deflate, zstd', 'identity', 'gzip;q=0', 'gzip;q=0.2, identity;q=0.5', 'gzip;q=x', 'br;q=2']) {
			assert.equal(preferredCoding(header), undefined, String(header));
		}
	});
});

describe('compressed answers', () => {
	let server: HttpServer;
	before(async () => {
		server = await serve(routes);
	});
	after(() => server.close(100));

	test('carry the same content and say so', async () => {
		for (const path of ['/json', '/bytes']) {
			const gzipped = await get(server.port, path, 'gzip');
			assert.equal(gzipped.headers.get('content-encoding'), 'gzip');
			assert.equal(gzipped.headers.get('vary'), 'Accept-Encoding');
			assert.ok(gzipped.body.length < json.length / 3);
			assert.equal(gunzipSync(gzipped.body).toString(), json);
			const brotli = await get(server.port, path, 'gzip, br');
			assert.equal(brotli.headers.get('content-encoding'), 'br');
			assert.equal(brotliDecompressSync(brotli.body).toString(), json);
		}
	});

	test('are not sent to whom did not ask, who is told that others may get them', async () => {
		const plain = await get(server.port, '/json', undefined);
		assert.equal(plain.headers.get('content-encoding'), undefined);
		assert.equal(plain.headers.get('vary'), 'Accept-Encoding');
		assert.equal(plain.body.toString(), json);
	});

	test('are not made of short ones, of images, and of what is coded already', async () => {
		for (const path of ['/short', '/image']) {
			const answer = await get(server.port, path, 'gzip, br');
			assert.equal(answer.headers.get('content-encoding'), undefined, path);
			assert.equal(answer.headers.get('vary'), undefined, path);
		}
		const coded = await get(server.port, '/coded', 'br');
		assert.equal(coded.headers.get('content-encoding'), 'gzip');
		assert.equal(coded.body.length, 5000);
	});

	test('keep a weak ETag and weaken a strong one; Vary keeps what it had', async () => {
		const tagged = await get(server.port, '/tagged', 'gzip');
		assert.equal(tagged.headers.get('etag'), 'W/"3"');
		assert.equal(tagged.headers.get('vary'), 'Accept, Accept-Encoding');
		assert.equal((await get(server.port, '/strong', 'gzip')).headers.get('etag'), 'W/"abc"');
		assert.equal((await get(server.port, '/strong', undefined)).headers.get('etag'), '"abc"');
	});

	test('to HEAD have the length of those to GET', async () => {
		const whole = await get(server.port, '/json', 'gzip');
		const head = await get(server.port, '/json', 'gzip', 'HEAD');
		assert.equal(head.headers.get('content-length'), String(whole.body.length));
		assert.equal(head.headers.get('content-encoding'), 'gzip');
		assert.equal(head.body.length, 0);
	});

	test('are streamed where the answer is', async () => {
		const gzipped = await get(server.port, '/lines', 'gzip');
		assert.equal(gzipped.headers.get('content-encoding'), 'gzip');
		assert.equal(gunzipSync(gzipped.body).toString(), lines.join(''));
		const brotli = await get(server.port, '/lines', 'br');
		assert.equal(brotliDecompressSync(brotli.body).toString(), lines.join(''));
		const plain = await get(server.port, '/lines', undefined);
		assert.equal(plain.body.toString(), lines.join(''));
		assert.equal(plain.headers.get('vary'), 'Accept-Encoding');
	});
});
