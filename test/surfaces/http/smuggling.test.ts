import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AnyRoute } from '#surfaces/http/message.ts';
import type { HttpServer } from '#surfaces/http/server.ts';
import { raw } from './raw.ts';
import { serve } from './serving.ts';

/** The numbers of the requests within others that were answered. */
const found = new Set<string>();
let shapes = 0;

const routes: AnyRoute[] = [
	{ method: 'POST', pattern: '/echo', handle: ({ body }) => ({ status: 200, body: `${body.length} bytes` }) },
	{ method: 'GET', pattern: '/end', handle: () => ({ status: 200, body: 'the end' }) },
	{ method: 'GET', pattern: '/plain', handle: () => ({ status: 200, body: 'plain text' }) },
	{
		method: 'GET',
		pattern: '/hidden/:number',
		handle: ({ params }) => {
			found.add(String(params['number']));
			return { status: 200, body: 'found' };
		},
	},
];

/** Its number is put in when it is sent; it is as long. */
const smuggled = 'GET /hidden/#### HTTP/1.1\r\nHost: x\r\n\r\n';
const length = smuggled.length;
const chunk = `${length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
const post = (fields: string) => `POST /echo HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;

// Shapes as in RFC 9112, sections 6.1 to 7.1 and 11.2: what one receiver reads as the body of a request is another request to the next.

/** A field that some receivers take for `Transfer-Encoding: chunked` and others do not. */
const encodings = [
	'Transfer-Encoding: chunked',
	'Transfer-Encoding : chunked',
	'Transfer-Encoding:\tchunked',
	'Transfer-Encoding:chunked',
	'Transfer-Encoding: chunked ',
	'Transfer-Encoding: CHUNKED',
	'TRANSFER-ENCODING: chunked',
	'Transfer-Encoding: xchunked',
	'Transfer-Encoding: chunkedx',
	'Transfer-Encoding: identity',
	'Transfer-Encoding: identity, chunked',
	'Transfer-Encoding: chunked, identity',
	'Transfer-Encoding: gzip, chunked',
	'Transfer-Encoding: chunked, chunked',
	'Transfer-Encoding: "chunked"',
	'Transfer-Encoding: ',
	'Transfer-Encoding: \u000bchunked',
	'Transfer-Encoding: chunked\u0000',
	'Transfer-Encoding: chunked;q=1',
	' Transfer-Encoding: chunked',
	'\tTransfer-Encoding: chunked',
	'X: y\r\n Transfer-Encoding: chunked',
	'X: y\nTransfer-Encoding: chunked',
	'X: y\rTransfer-Encoding: chunked',
	'Transfer-Encoding\r\n : chunked',
	'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
	'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
	'Transfer-Encoding\u0000: chunked',
] as const;

/** What some receivers take for the length of the body, and others for nothing or for another length. */
const lengths = [
	`+${length}`,
	`-${length}`,
	`0x${length.toString(16)}`,
	`${length}, ${length}`,
	`${length};1`,
	`${length}.0`,
	`${length}e0`,
	`${length} 0`,
	`${length}\u000b`,
	`${length}\u0000`,
	`"${length}"`,
	`\u0661${length}`,
	String(2n ** 64n + BigInt(length)),
	String(2n ** 32n + BigInt(length)),
	'',
	'chunked',
] as const;

/** First lines of a chunk that some receivers take for its length, and others for another one. */
const chunkLines = [
	`+${length.toString(16)}`,
	`-${length.toString(16)}`,
	`0x${length.toString(16)}`,
	` ${length.toString(16)}`,
	`${length.toString(16)} `,
	`${length.toString(16)}h`,
	`0000000000000000${length.toString(16)}`,
	`1${'0'.repeat(14)}${length.toString(16)}`,
	`1${'0'.repeat(6)}${length.toString(16)}`,
	'',
] as const;

describe('a request within the body of another', { concurrency: true }, () => {
	let server: HttpServer;
	before(async () => {
		// Many of them are a body that never ends.
		server = await serve(routes, { httpBodyBytesMax: 1000, httpBodyStallMsMax: 200 });
	});
	after(() => server.close(100));

	/** Sends it as a request of its own number, and answers what came back. */
	async function send(bytes: string | string[], until?: RegExp): Promise<{ answer: string; isFound: boolean }> {
		const number = String(++shapes).padStart(4, '0');
		const numbered = [bytes].flat().map((part) => part.replaceAll('####', number));
		const answer = await raw(server.port, numbered, until);
		return { answer, isFound: found.has(number) };
	}

	/** All at once, because a body that never ends takes the seconds after which the library closes. */
	async function remainHidden(sent: Record<string, string | string[]>): Promise<void> {
		await Promise.all(
			Object.entries(sent).map(async ([shape, bytes]) => {
				const { answer, isFound } = await send(bytes, /bytes$|the end$/);
				assert.ok(!isFound, `${JSON.stringify(shape)} was answered by ${answer}`);
			}),
		);
		assert.match(await raw(server.port, 'GET /plain HTTP/1.1\r\nHost: x\r\n\r\n', /plain text/), /^HTTP\/1\.1 200 /);
	}

	test('is found where it is one of its own', async () => {
		for (const before of [`${post('Content-Length: 3\r\n')}abc`, `${post('Transfer-Encoding: chunked\r\n')}0\r\n\r\n`])
			assert.ok((await send(`${before}${smuggled}`, /found$/)).isFound);
	});

	for (const field of encodings) {
		test(`is not answered with ${JSON.stringify(field)}`, async () => {
			const both = `0\r\n\r\n${smuggled}`;
			const size = chunk.indexOf('\r\n') + 2;
			await remainHidden({
				alone: `${post(`${field}\r\n`)}${chunk}`,
				'before a length': `${post(`${field}\r\nContent-Length: ${both.length}\r\n`)}${both}`,
				'behind a length': `${post(`Content-Length: ${both.length}\r\n${field}\r\n`)}${both}`,
				'behind a short length': `${post(`Content-Length: ${size}\r\n${field}\r\n`)}${chunk}`,
			});
		});
	}

	for (const text of lengths) {
		test(`is not answered with Content-Length ${JSON.stringify(text)}`, async () => {
			await remainHidden({
				alone: `${post(`Content-Length: ${text}\r\n`)}${smuggled}`,
				'behind another': `${post(`Content-Length: ${length}\r\nContent-Length: ${text}\r\n`)}${smuggled}`,
				'before another': `${post(`Content-Length: ${text}\r\nContent-Length: ${length}\r\n`)}${smuggled}`,
				'in a GET': `GET /plain HTTP/1.1\r\nHost: x\r\nContent-Length: ${text}\r\n\r\n${smuggled}`,
			});
		});
	}

	for (const line of chunkLines) {
		test(`is not answered with a chunk of length ${JSON.stringify(line)}`, async () => {
			const rest = `${line}\r\n${smuggled}\r\n0\r\n\r\n`;
			const head = post('Transfer-Encoding: chunked\r\n');
			await remainHidden({ first: `${head}${rest}`, 'behind another': [`${head}1\r\na\r\n`, rest] });
		});
	}

	test('is not answered behind an extension of a chunk, which the library takes for digits of its length', async () => {
		const head = post('Transfer-Encoding: chunked\r\n');
		const { answer, isFound } = await send(`${head}3;a=b\r\nabc\r\n0\r\n\r\n${smuggled}`);
		assert.match(answer, /^HTTP\/1\.1 4(?:08|13) /);
		assert.ok(!isFound);
		await remainHidden({ 'the whole length': `${head}${length.toString(16)};a=b\r\n${smuggled}\r\n0\r\n\r\n` });
	});

	test('is not answered where a line ends with one character, where nothing ends a chunk, or in a trailer', async () => {
		const head = post('Transfer-Encoding: chunked\r\n');
		const size = length.toString(16);
		const bodies = [
			`${size}\n${smuggled}\n0\n\n`,
			`${size}\r${smuggled}\r0\r\r`,
			`${size}\r\n${smuggled}0\r\n\r\n`,
			`0\r\nX: ${smuggled}`,
			`0\n\n${smuggled}`,
			`0\r\r${smuggled}`,
			`\r\n${size}\r\n${smuggled}\r\n0\r\n\r\n`,
		];
		await remainHidden(Object.fromEntries(bodies.map((body) => [body, `${head}${body}`])));
	});

	test('is not answered as the body of a GET, of a HEAD and of a path that is not there', async () => {
		const sent: Record<string, string> = {};
		// Shows that what came before it was read.
		const end = 'GET /end HTTP/1.1\r\nHost: x\r\n\r\n';
		for (const line of ['GET /plain', 'HEAD /plain', 'POST /nowhere', 'DELETE /plain', 'OPTIONS /plain']) {
			sent[`${line} with a length`] = `${line} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${smuggled}${end}`;
			sent[`${line} with chunks`] = `${line} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${end}`;
		}
		await remainHidden(sent);
	});
});
