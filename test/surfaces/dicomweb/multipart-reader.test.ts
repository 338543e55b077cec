import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { boundaryFault, gathered, MultipartParser } from '#surfaces/dicomweb/multipart-reader.ts';
import { fc, runs } from '#test/support/fuzzing.ts';

interface Part {
	headers: [string, string][];
	content: string;
}

function parse(body: Buffer, boundary: string, sizes: readonly number[] = []): Part[] {
	const parser = new MultipartParser(boundary);
	const parts: (Part & { isWhole: boolean })[] = [];
	for (let at = 0, turn = 0; at < body.length; turn++) {
		const size = sizes[turn % sizes.length] ?? body.length;
		for (const event of parser.push(Buffer.from(body.subarray(at, at + size)))) {
			const last = parts.at(-1);
			if (event.kind === 'part') parts.push({ headers: [...event.headers], content: '', isWhole: false });
			else {
				assert.ok(last && !last.isWhole);
				if (event.kind === 'data') last.content += event.bytes.toString('latin1');
				else last.isWhole = true;
			}
		}
		at += size;
	}
	parser.end();
	assert.ok(parts.every(({ isWhole }) => isWhole));
	return parts.map(({ headers, content }) => ({ headers, content }));
}

const written = (parts: readonly string[], boundary: string) =>
	`${parts.map((content) => `--${boundary}\r\nContent-Type: a/b\r\n\r\n${content}\r\n`).join('')}--${boundary}--`;

describe('a multipart body', () => {
	test('is taken apart alike in pieces of any size', () => {
		const content = fc.array(fc.constantFrom('\r', '\n', '-', '--b', '\r\n--', 'b', '\0', 'xyz', '\r\n\r\n'), { maxLength: 20 });
		const parts = fc.array(
			content.map((pieces) => pieces.join('')).filter((text) => !`\r\n${text}`.includes('\r\n--bx')),
			{ minLength: 1, maxLength: 4 },
		);
		fc.assert(
			fc.property(parts, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 }), (contents, sizes) => {
				const found = parse(Buffer.from(written(contents, 'bx'), 'latin1'), 'bx', sizes);
				assert.deepEqual(
					found.map((part) => part.content),
					contents,
				);
			}),
			{ numRuns: runs(2000) },
		);
	});

	test('may have a preamble, an epilogue, padding behind boundaries, parts without headers or content', () => {
		const body =
			'before\r\n--b \t\r\n\r\nfirst\r\n--b\r\nA: 1\r\n B\r\nC:2\r\n\r\n--b\r\n\r\n--b\r\nA: 1\r\n\r\n\r\n--b--\r\n--b\r\nbehind';
		const expected = [
			{ headers: [], content: 'first' },
			{
				headers: [
					['a', '1 B'],
					['c', '2'],
				],
				content: '',
			},
			{ headers: [], content: '' },
			{ headers: [['a', '1']], content: '' },
		];
		for (const sizes of [[], [1], [3]]) assert.deepEqual(parse(Buffer.from(body), 'b', sizes), expected);
	});

	test('that is broken is refused', () => {
		const bodies = [
			'',
			'--b',
			'--b\r\n',
			'--b\r\nA: 1\r\n\r\nx',
			'--b\r\nA: 1\r\n\r\nx\r\n--b',
			'--bc\r\nA: 1\r\n\r\nx\r\n--b--',
			'--b\r\n: 1\r\n\r\nx\r\n--b--',
			'--b\r\nno header\r\n\r\nx\r\n--b--',
			'--b\nA: 1\n\nx\n--b--',
			`--b\r\nA: ${'x'.repeat(20_000)}\r\n\r\nx\r\n--b--`,
			`--b${' '.repeat(300)}\r\n\r\nx\r\n--b--`,
		];
		for (const body of bodies) {
			for (const sizes of [[], [1]]) {
				assert.throws(
					() => parse(Buffer.from(body), 'b', sizes),
					(error) => error instanceof Failure && error.code === 'invalid',
					body.slice(0, 40),
				);
			}
		}
	});

	test('has a boundary of RFC 2046, or a longer one, and is told what is wrong with another', () => {
		const orthanc = '2c0c4d1b-8f5b-4a79-9f0e-9a3d6f0c5b11-6c1f7f9e-30f3-4f7d-8a0e-2b7f0d9f4c55';
		for (const text of ['b', 'a-boundary', "'()+_,-./:=?", `a${' '.repeat(68)}b`, orthanc, 'x'.repeat(200)]) {
			assert.equal(boundaryFault(text), undefined, text);
		}
		assert.match(boundaryFault('') ?? '', /has no boundary/);
		assert.match(boundaryFault('x'.repeat(201)) ?? '', /longer than 200 characters/);
		assert.match(boundaryFault('a ') ?? '', /ends with a blank/);
		for (const text of ['a"b', 'a\r\n', 'ä']) assert.match(boundaryFault(text) ?? '', /character that RFC 2046 does not allow/, text);
	});

	test('of single bytes is put together first', async () => {
		const bytes = Buffer.from(Array.from({ length: 50_000 }, (_, index) => index % 256));
		async function* single() {
			for (const byte of bytes.subarray(0, 20_000)) yield Uint8Array.of(byte);
			yield bytes.subarray(20_000, 49_000);
			yield bytes.subarray(49_000);
		}
		const pieces: Uint8Array[] = [];
		for await (const piece of gathered(single())) pieces.push(piece);
		assert.ok(Buffer.concat(pieces).equals(bytes));
		assert.equal(pieces.length, 4);
	});
});
