import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LineIndex } from '#bulk/spool.ts';
import { fc } from '#test/support/fuzzing.ts';

function indexOf(text: string, limits: { importChunkLinesMax: number; importLineBytesMax: number }, cut: number): LineIndex {
	const index = new LineIndex(limits);
	const bytes = Buffer.from(text);
	for (let at = 0; at < bytes.length; at += cut) index.take(bytes.subarray(at, at + cut));
	index.end();
	return index;
}

const line = (length: number) => 'x'.repeat(length);

describe('the index of an import', () => {
	test('cuts a file into chunks of whole lines, wherever its pieces end', () => {
		const text = Array.from({ length: 10 }, (_, number) => line(20 + number)).join('\n');
		for (const cut of [1, 7, 23, 1000]) {
			const { ranges, lines } = indexOf(text, { importChunkLinesMax: 4, importLineBytesMax: 100 }, cut);
			assert.equal(lines, 10);
			assert.deepEqual(
				ranges.map(({ line: first }) => first),
				[1, 5, 9],
			);
			assert.deepEqual(
				ranges.map(({ start, end }) => text.slice(start, end).trimEnd().split('\n').length),
				[4, 4, 2],
			);
		}
	});

	test('keeps a line that is too long apart', () => {
		const text = `${line(30)}\n${line(101)}\n${line(30)}\n${line(200)}`;
		const { ranges, lines } = indexOf(text, { importChunkLinesMax: 100, importLineBytesMax: 100 }, 11);
		assert.equal(lines, 4);
		assert.deepEqual(
			ranges.map(({ line: first, isTooLong }) => [first, isTooLong ?? false]),
			[
				[1, false],
				[2, true],
				[3, false],
				[4, true],
			],
		);
	});

	test('of a file of empty lines stays small', () => {
		const { ranges, lines } = indexOf('\n'.repeat(100_000), { importChunkLinesMax: 100, importLineBytesMax: 100 }, 4096);
		assert.equal(lines, 0);
		assert.equal(ranges.length, 1);
		assert.ok(indexOf('x\n'.repeat(100_000), { importChunkLinesMax: 100, importLineBytesMax: 100 }, 4096).ranges.length < 200);
	});

	test('covers every byte once, and numbers lines as they stand', () => {
		fc.assert(
			fc.property(
				fc.array(fc.constantFrom(0, 1, 2, 12, 40, 90, 150), { maxLength: 60 }),
				fc.integer({ min: 1, max: 60 }),
				fc.integer({ min: 1, max: 5 }),
				fc.boolean(),
				(lengths, cut, importChunkLinesMax, isEnded) => {
					const text = lengths.map(line).join('\n') + (isEnded ? '\n' : '');
					const { ranges } = indexOf(text, { importChunkLinesMax, importLineBytesMax: 100 }, cut);
					let at = 0;
					for (const range of ranges) {
						assert.equal(range.start, at);
						assert.ok(range.end > range.start);
						assert.equal(range.line, text.slice(0, at).split('\n').length);
						at = range.end;
					}
					assert.equal(at, text.length);
				},
			),
		);
	});
});
