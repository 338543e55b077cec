import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { areMany, Blocks, blockBytes, release } from '#storage/objects/blocks.ts';

describe('blocks of memory', () => {
	test('hold pieces of any size in order, and are empty when they are taken', () => {
		const blocks = new Blocks();
		const content = Buffer.alloc(2 * blockBytes + 77, 'abcdefghijk');
		const piece = Buffer.alloc(100_003);
		for (let at = 0; at < content.length; at += piece.length) blocks.add(piece.subarray(0, content.copy(piece, 0, at)));
		assert.equal(blocks.bytes, content.length);
		const taken = blocks.take();
		assert.deepEqual(
			taken.map(({ length }) => length),
			[blockBytes, blockBytes, 77],
		);
		assert.deepEqual(Buffer.concat(taken), content);
		assert.equal(blocks.bytes, 0);
		assert.deepEqual(blocks.take(), []);
		release(taken);
	});

	test('are used again, whole', () => {
		const first = new Blocks();
		first.add(Buffer.alloc(5, 1));
		const taken = first.take();
		release(taken);
		const second = new Blocks();
		second.add(Buffer.alloc(blockBytes, 2));
		const [block] = second.take();
		assert.equal(block?.buffer, taken[0]?.buffer);
		assert.deepEqual(block, Buffer.alloc(blockBytes, 2));
		release([block as Buffer]);
	});

	test('are counted while they are used', () => {
		const all = Array.from({ length: 65 }, () => new Blocks());
		for (const blocks of all.slice(1)) blocks.add(Buffer.alloc(1));
		assert.equal(areMany(), false);
		all[0]?.add(Buffer.alloc(1));
		assert.equal(areMany(), true);
		for (const blocks of all) release(blocks.take());
		assert.equal(areMany(), false);
	});
});
