import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ImageReader } from '#imaging/image-description.ts';
import { element } from '#test/support/data-set.ts';

const words = (...values: number[]) => Buffer.from(new Uint16Array(values).buffer);
const descriptors = (entries: number, first: number, bits: number) =>
	[1, 2, 3].map((colour) => element(0x0028_1100 + colour, 'US', words(entries, first, bits)));
const tables = (from: number, ...contents: Buffer[]) => contents.map((content, index) => element(from + index, 'OW', content));

function paletteOf(...further: Buffer[]) {
	const reader = new ImageReader('1.2.840.10008.1.2.1', 1 << 20);
	const image = [element(0x0028_0010, 'US', words(1)), element(0x0028_0011, 'US', words(2)), ...further];
	reader.feed(Buffer.concat([...image, element(0x7fe0_0010, 'OW', Buffer.alloc(2))]));
	const palette = reader.end()?.palette;
	const shown = (text: string | undefined) => [...Buffer.from(text ?? '', 'base64')];
	return palette ? [palette.first, shown(palette.red), shown(palette.green), shown(palette.blue)] : palette;
}

test('an image is one, too, where an offset table or a group length stands before its pixels', () => {
	const offsets = element(0x7fe0_0001, 'OV', Buffer.alloc(8));
	for (const before of [offsets, element(0x7fe0_0000, 'UL', Buffer.alloc(4))]) {
		const reader = new ImageReader('1.2.840.10008.1.2.1', 1 << 20);
		const size = [element(0x0028_0010, 'US', words(3)), element(0x0028_0011, 'US', words(2))];
		reader.feed(Buffer.concat([...size, before, element(0x7fe0_0010, 'OW', Buffer.alloc(12))]));
		const { rows, columns } = reader.end() ?? {};
		assert.deepEqual([rows, columns], [3, 2]);
	}
});

describe('the palette by which a viewer shows an image', () => {
	test('has a byte an entry, whichever width the entries of the file have', () => {
		const wide = [words(0, 0x7f00), words(0x1000, 0), words(0, 0x6400)];
		const expected = [5, [0, 0x7f], [0x10, 0], [0, 0x64]];
		assert.deepEqual(paletteOf(...descriptors(2, 5, 16), ...tables(0x0028_1201, ...wide)), expected);
		const low = [words(0, 0x7f), words(0x10, 0), words(0, 0x64)];
		assert.deepEqual(paletteOf(...descriptors(2, 5, 16), ...tables(0x0028_1201, ...low)), expected);
		const bytes = [Buffer.of(0, 0x7f), Buffer.of(0x10, 0), Buffer.of(0, 0x64)];
		assert.deepEqual(paletteOf(...descriptors(2, 5, 8), ...tables(0x0028_1201, ...bytes)), expected);
		assert.deepEqual(paletteOf(...descriptors(2, 5, 8), ...tables(0x0028_1201, ...low)), expected, 'a word for each entry of 8 bits');
	});

	test('is expanded where the file has segments (PS3.3 C.7.9.2); broken segments make none', () => {
		const segments = words(0, 2, 10 << 8, 20 << 8, 1, 2, 40 << 8);
		const entries = [10, 20, 30, 40];
		const given = tables(0x0028_1221, segments, segments, segments);
		assert.deepEqual(paletteOf(...descriptors(4, 0, 16), ...given), [0, entries, entries, entries]);
		assert.equal(paletteOf(...descriptors(9, 0, 16), ...given), null);
		assert.equal(paletteOf(...descriptors(4, 0, 16)), null);
	});
});
