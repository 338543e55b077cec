import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { Inflate as FflateInflate } from 'fflate';
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

/** The input with one bit turned over, as far as zlib refuses it. */
function damagedOnce(deflated: Buffer): Buffer[] {
	return Array.from({ length: deflated.length * 8 }, (_, bit) => {
		const damaged = Buffer.from(deflated);
		damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
		return damaged;
	}).filter((damaged) => {
		try {
			inflateRawSync(damaged);
			return false;
		} catch {
			return true;
		}
	});
}

test('what zlib refuses is refused, whichever bit is turned over', () => {
	const plain = Buffer.from('a data set that is not one, and another, '.repeat(20));
	for (const strategy of [constants.Z_DEFAULT_STRATEGY, constants.Z_FIXED, constants.Z_HUFFMAN_ONLY]) {
		for (const damaged of damagedOnce(deflateRawSync(plain, { strategy }))) {
			assert.throws(() => inflated(damaged, 64), damaged.toString('hex'));
		}
	}
});

/** The reasons why `fflate` does not read deflated data sets. When one of these tests fails, it may. */
describe('fflate', () => {
	function pieces(...chunks: readonly Uint8Array[]): Buffer {
		const taken: Uint8Array[] = [];
		const inflate = new FflateInflate((piece) => taken.push(piece));
		for (const [index, chunk] of chunks.entries()) inflate.push(chunk, index === chunks.length - 1);
		return Buffer.concat(taken);
	}

	test('takes a stored block whose length is damaged', () => {
		const stored = deflateRawSync(Buffer.from('a value of forty bytes, neither more ...'), { level: 0 });
		// The complement of the length, which is there to be compared.
		stored[3] = (stored[3] as number) ^ 0xff;
		assert.throws(() => inflateRawSync(stored));
		assert.throws(() => inflated(stored, 64), InflateError);
		assert.equal(pieces(stored).length, 40);
	});

	test('takes codes that have more or fewer symbols than fit', () => {
		const taken = damagedOnce(deflateRawSync(Buffer.from('a data set that is not one, and another, '.repeat(20)))).filter((damaged) => {
			try {
				pieces(damaged);
				return true;
			} catch {
				return false;
			}
		});
		assert.ok(taken.length > 0);
	});

	test('takes for whole what breaks off between two blocks', () => {
		const plain = Buffer.from('the first half ');
		// The last block has the mark that it is; this one, stored and empty, does not.
		const cut = deflateRawSync(plain, { finishFlush: constants.Z_FULL_FLUSH });
		assert.throws(() => inflated(cut, 64));
		assert.deepEqual(pieces(cut, new Uint8Array(0)), plain);
	});
});
