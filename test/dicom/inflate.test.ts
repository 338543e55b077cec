import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { constants, deflateRawSync } from 'node:zlib';
import { Inflate, InflateError } from '#dicom/inflate.ts';
import { fc, runs } from '#test/support/fuzzing.ts';

function inflated(bytes: Buffer, chunkBytes: number): Buffer {
	const pieces: Buffer[] = [];
	const inflate = new Inflate((piece) => pieces.push(Buffer.from(piece)) > 0);
	for (let at = 0; at < bytes.length; at += chunkBytes) inflate.feed(bytes.subarray(at, at + chunkBytes));
	assert.ok(inflate.ended);
	return Buffer.concat(pieces);
}

describe('inflate', () => {
	const repetitive = fc.array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 3000 })), {
		maxLength: 12,
	});

	test('gives back what zlib deflated, by any strategy and in any chunks', () => {
		const strategy = fc.constantFrom(constants.Z_DEFAULT_STRATEGY, constants.Z_FIXED, constants.Z_HUFFMAN_ONLY, constants.Z_RLE);
		fc.assert(
			fc.property(repetitive, strategy, fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 5000 }), (parts, how, level, size) => {
				const plain = Buffer.concat(parts.flatMap(([bytes, times]) => Array(times).fill(Buffer.from(bytes))));
				assert.ok(inflated(deflateRawSync(plain, { strategy: how, level }), size).equals(plain));
			}),
			{ numRuns: runs(150) },
		);
	});

	test('stops when enough was taken, however much the input stands for', () => {
		const bomb = deflateRawSync(Buffer.alloc(64 * 1024 * 1024));
		let taken = 0;
		const inflate = new Inflate((piece) => {
			taken += piece.length;
			return taken < 100_000;
		});
		inflate.feed(bomb);
		assert.ok(inflate.ended);
		assert.ok(taken >= 100_000 && taken < 120_000, String(taken));
	});

	test('random and damaged bytes are refused or read, never more', () => {
		const deflated = deflateRawSync(Buffer.from('a data set that is not one '.repeat(50)));
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(deflated.length), (bytes, cut) => {
				let taken = 0;
				const inflate = new Inflate((piece) => {
					taken += piece.length;
					return taken < 1_000_000;
				});
				try {
					inflate.feed(Buffer.concat([deflated.subarray(0, cut), bytes]));
				} catch (error) {
					assert.ok(error instanceof InflateError);
				}
				assert.ok(taken <= 1_100_000);
			}),
			{ numRuns: runs(2000) },
		);
	});
});
