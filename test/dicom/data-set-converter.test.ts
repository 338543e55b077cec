import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DataSetConverter } from '#dicom/data-set-converter.ts';
import { DataSetError } from '#dicom/fault.ts';
import { explicitBigEndian, explicitLittleEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { element, sampleDataSet, sequence, type Writing } from '#test/support/data-set.ts';

const writings: Record<string, Writing> = {
	[implicitLittleEndian]: { explicit: false, littleEndian: true },
	[explicitLittleEndian]: { explicit: true, littleEndian: true },
	[explicitBigEndian]: { explicit: true, littleEndian: false },
};

/** The data set in another transfer syntax; `pieceBytes`: it comes in pieces of so many bytes. */
function convert(dataSet: Buffer, from: string, to: string, pieceBytes = dataSet.length): Buffer {
	const converter = new DataSetConverter(from, to);
	const written: Buffer[] = [];
	for (let at = 0; at < dataSet.length; at += pieceBytes) written.push(...converter.feed(dataSet.subarray(at, at + pieceBytes)));
	converter.end();
	return Buffer.concat(written);
}

/** One case, written by `of` as each transfer syntax has it. */
type Of = (writing: Writing) => Buffer;
const undefinedSequences = (tag: number, items: Buffer[], writing: Writing) => sequence(tag, items, { isDefined: false, writing });
const words = (writing: Writing, ...values: number[]) => {
	const bytes = Buffer.alloc(2 * values.length);
	for (const [index, value] of values.entries()) {
		if (writing.littleEndian) bytes.writeUInt16LE(value, 2 * index);
		else bytes.writeUInt16BE(value, 2 * index);
	}
	return bytes;
};
const turned = (bytes: Buffer, size: 4 | 8, { littleEndian }: Writing) => {
	const copy = Buffer.from(bytes);
	if (littleEndian) return copy;
	return size === 4 ? copy.swap32() : copy.swap64();
};
const eight = Buffer.from('0102030405060708', 'hex');

const alike: Record<string, Of> = {
	'texts, UIDs and numbers as text': (w) =>
		Buffer.concat([element(0x0008_0018, 'UI', '1.2.3', w), element(0x0010_0010, 'PN', 'A^B', w), element(0x0020_0013, 'IS', '7', w)]),
	'numbers of two, four and eight bytes': (w) =>
		Buffer.concat([
			element(0x0008_1163, 'FD', turned(eight, 8, w), w),
			element(0x0018_9073, 'FD', turned(eight, 8, w), w),
			element(0x0028_0009, 'AT', words(w, 0x0018, 0x1063), w),
			element(0x0028_0010, 'US', 512, w),
			element(0x0028_6010, 'US', words(w, 1, 2, 3), w),
			element(0x0040_a132, 'UL', turned(eight, 4, w), w),
		]),
	'what is US or SS, by Pixel Representation': (w) =>
		Buffer.concat([
			element(0x0028_0100, 'US', 16, w),
			element(0x0028_0103, 'US', 1, w),
			element(0x0028_0106, 'SS', words(w, 0xff_fe), w),
			undefinedSequences(0x0028_3000, [element(0x0028_3002, 'SS', words(w, 256, 0xff_00, 16), w)], w),
			undefinedSequences(
				0x0028_3010,
				[Buffer.concat([element(0x0028_0103, 'US', 0, w), element(0x0028_3002, 'US', words(w, 256, 0xff_00, 16), w)])],
				w,
			),
			element(0x7fe0_0010, 'OW', words(w, 1, 2, 0xff_00), w),
		]),
	'pixels of eight bits as bytes': (w) =>
		Buffer.concat([element(0x0028_0100, 'US', 8, w), element(0x7fe0_0010, 'OB', Buffer.from([1, 2, 3, 4]), w)]),
	'a waveform of eight bits': (w) => Buffer.concat([element(0x5400_1004, 'US', 8, w), element(0x5400_1010, 'OB', Buffer.from([1, 2]), w)]),
	'sequences in one another, and empty ones': (w) =>
		Buffer.concat([
			sequence(0x0008_1115, [], { writing: w }),
			undefinedSequences(0x0040_0275, [undefinedSequences(0x0040_0008, [element(0x0008_0100, 'SH', 'C', w)], w), Buffer.alloc(0)], w),
		]),
	'private elements whose VR nobody knows': (w) =>
		Buffer.concat([element(0x0009_0010, 'LO', 'CREATOR', w), element(0x0009_1001, 'UN', Buffer.from([1, 2, 3, 4]), w)]),
	'private sequences': (w) =>
		Buffer.concat([element(0x0009_0010, 'LO', 'CREATOR', w), undefinedSequences(0x0009_1002, [element(0x0009_1001, 'UN', eight, w)], w)]),
	'VRs with long lengths': (w) => Buffer.concat([element(0x0008_0119, 'UC', 'text', w), element(0x0040_a160, 'UT', 'x'.repeat(70_000), w)]),
};

describe('a data set is the same in every uncompressed transfer syntax', () => {
	for (const [name, of] of Object.entries(alike)) {
		for (const [from, source] of Object.entries(writings)) {
			for (const [to, target] of Object.entries(writings)) {
				test(`${name}: ${from} to ${to}`, () => {
					assert.deepEqual(convert(of(source), from, to), of(target));
				});
			}
		}
	}

	test('in whatever pieces it comes', () => {
		const writing = { explicit: true, littleEndian: false };
		const pixels = Buffer.from(Uint8Array.from({ length: 20_000 }, (_, index) => (index * 7) & 0xff));
		const dataSet = sampleDataSet({ writing, pixels });
		const whole = convert(dataSet, explicitBigEndian, implicitLittleEndian);
		for (const pieceBytes of [1, 3, 7, 1000, 4999]) {
			assert.ok(convert(dataSet, explicitBigEndian, implicitLittleEndian, pieceBytes).equals(whole), String(pieceBytes));
		}
		assert.ok(whole.includes(Buffer.from(pixels).swap16()));
		const back = convert(whole, implicitLittleEndian, explicitBigEndian);
		assert.ok(convert(back, explicitBigEndian, implicitLittleEndian).equals(whole));
	});
});

describe('what one transfer syntax has and another has not', () => {
	const little = { explicit: true, littleEndian: true };
	const implicit = { explicit: false, littleEndian: true };
	const big = { explicit: true, littleEndian: false };

	test('lengths of groups are left out, and lengths of sequences become undefined', () => {
		const item = Buffer.concat([element(0x0040_0000, 'UL', eight.subarray(0, 4)), element(0x0040_0007, 'LO', 'D')]);
		const dataSet = Buffer.concat([element(0x0008_0000, 'UL', eight.subarray(0, 4)), sequence(0x0040_0100, [item])]);
		const expected = undefinedSequences(0x0040_0100, [element(0x0040_0007, 'LO', 'D', implicit)], implicit);
		assert.deepEqual(convert(dataSet, explicitLittleEndian, implicitLittleEndian), expected);
	});

	test('VRs of private elements are lost in implicit VR', () => {
		const dataSet = element(0x0009_1001, 'US', 5, big);
		assert.deepEqual(convert(dataSet, explicitBigEndian, implicitLittleEndian), element(0x0009_1001, 'UN', Buffer.from([5, 0]), implicit));
	});

	test('UN keeps its value in little endian, and its sequences in implicit VR (PS3.5 §6.2.2)', () => {
		const inner = Buffer.concat([
			element(0x0009_1002, 'UN', Buffer.from([1, 2]), implicit),
			undefinedSequences(0x0009_1003, [element(0x0009_1004, 'UN', eight, implicit)], implicit),
		]);
		const unknown = (w: Writing) => {
			const items = sequence(0x0009_1001, [inner], { isDefined: false, writing: implicit }).subarray(8);
			return element(0x0009_1001, 'UN', items, w, 0xff_ff_ff_ff);
		};
		const defined = (w: Writing) => element(0x0011_1001, 'UN', Buffer.from([1, 2, 3, 4]), w);
		const of = (w: Writing) => Buffer.concat([unknown(w), defined(w)]);
		assert.deepEqual(convert(of(little), explicitLittleEndian, explicitBigEndian), of(big));
		assert.deepEqual(convert(of(big), explicitBigEndian, explicitLittleEndian), of(little));
		assert.deepEqual(convert(of(big), explicitBigEndian, implicitLittleEndian), of(implicit));
	});

	test('a value that is too long for its VR is UN, in little endian', () => {
		const values = Buffer.alloc(0x1_00_00, Buffer.from([1, 2]));
		const dataSet = element(0x0028_6010, 'US', values, implicit);
		assert.deepEqual(convert(dataSet, implicitLittleEndian, explicitBigEndian), element(0x0028_6010, 'UN', values, big));
	});

	test('padding with zeros at the end is left out', () => {
		const dataSet = element(0x0010_0010, 'PN', 'A^', little);
		for (const bytes of [2, 6, 8, 14]) {
			const padded = Buffer.concat([dataSet, Buffer.alloc(bytes)]);
			assert.deepEqual(
				convert(padded, explicitLittleEndian, implicitLittleEndian),
				element(0x0010_0010, 'PN', 'A^', implicit),
				String(bytes),
			);
		}
	});

	const refused: [string, Buffer, RegExp][] = [
		['an odd length', element(0x0028_0106, 'LO', Buffer.alloc(3)), /\(0028,0106\) has an odd length/],
		['half a value', element(0x0040_a132, 'UL', Buffer.alloc(6)), /\(0040,A132\) does not hold whole values/],
		['fragments', element(0x7fe0_0010, 'OB', Buffer.alloc(0), little, 0xff_ff_ff_ff), /\(7FE0,0010\) comes in fragments/],
		['an element that is cut off', element(0x0010_0010, 'PN', 'A^').subarray(0, 9), /ends within an element/],
		['file meta information', element(0x0002_0010, 'UI', '1.2'), /file meta element/],
	];
	for (const [name, dataSet, reason] of refused) {
		test(`${name} is refused`, () => {
			assert.throws(
				() => convert(dataSet, explicitLittleEndian, implicitLittleEndian),
				(error) => error instanceof DataSetError && reason.test(error.message),
			);
		});
	}
});
