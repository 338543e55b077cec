import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bulkMediaTypeOf, encodingOf, explicitLittleEndian, implicitLittleEndian, transferSyntaxes } from '#dicom/transfer-syntax.ts';

const words = ({ explicit, littleEndian, deflated }: ReturnType<typeof encodingOf>) =>
	`${explicit ? 'explicit' : 'implicit'} ${littleEndian ? 'little' : 'big'}${deflated ? ' deflated' : ''}`;

describe('a data set is written', () => {
	const encodings: [string, string][] = [
		[implicitLittleEndian, 'implicit little'],
		[explicitLittleEndian, 'explicit little'],
		['1.2.840.10008.1.2.2', 'explicit big'],
		['1.2.840.10008.1.2.1.99', 'explicit little deflated'],
		['1.2.840.10008.1.2.4.95', 'explicit little deflated'],
		['1.2.840.10008.1.2.4.205', 'explicit little deflated'],
		['1.2.840.10008.1.2.4.70', 'explicit little'],
		['1.2.840.10008.1.2.8.1', 'explicit little'],
		['1.2.840.113619.5.2', 'implicit little'],
		['1.3.6.1.4.1.5962.300.1', 'explicit little'],
	];
	for (const [uid, expected] of encodings) test(`in ${uid}: ${expected}`, () => assert.equal(words(encodingOf(uid)), expected));

	test('by its name, where the name says it', () => {
		for (const [uid, name] of transferSyntaxes) {
			assert.equal(encodingOf(uid).deflated, /Deflate(d Explicit)?\b/.test(name) && !name.includes('Frame'), name);
			assert.equal(encodingOf(uid).littleEndian, !name.includes('Big Endian'), name);
			assert.equal(encodingOf(uid).explicit, !name.includes('Implicit'), name);
		}
	});
});

describe('the media type of pixel data', () => {
	test('is there for every compressed syntax, and for no other', () => {
		const compressed = /^(JPEG|MPEG|HEVC|High-Throughput|RLE|Fragmentable)/;
		for (const [uid, name] of transferSyntaxes) assert.equal(bulkMediaTypeOf(uid) !== undefined, compressed.test(name), name);
	});

	const types: [string, string | undefined][] = [
		['1.2.840.10008.1.2.4.50', 'image/jpeg'],
		['1.2.840.10008.1.2.4.81', 'image/jls'],
		['1.2.840.10008.1.2.4.90', 'image/jp2'],
		['1.2.840.10008.1.2.4.93', 'image/jpx'],
		['1.2.840.10008.1.2.4.202', 'image/jphc'],
		['1.2.840.10008.1.2.4.112', 'image/jxl'],
		['1.2.840.10008.1.2.4.100.1', 'video/mpeg'],
		['1.2.840.10008.1.2.4.106', 'video/mp4'],
		['1.2.840.10008.1.2.4.108', 'video/H265'],
		['1.2.840.10008.1.2.5', 'image/dicom-rle'],
		['1.2.840.10008.1.2.4.500', undefined],
		['1.2.3.4.50', undefined],
		['', undefined],
	];
	for (const [uid, type] of types) test(`of ${uid || 'no syntax'}: ${type ?? 'none'}`, () => assert.equal(bulkMediaTypeOf(uid), type));
});
