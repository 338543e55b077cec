import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { DataSetError } from '#dicom/fault.ts';
import { FileMetaReader, part10Head } from '#dicom/part10.ts';
import { SopIdentityReader } from '#dicom/sop-identity.ts';
import { bulkMediaTypeOf, explicitLittleEndian, implicitLittleEndian, transferSyntaxes } from '#dicom/transfer-syntax.ts';
import { type LocatorResult, parseValuePath, ValueLocator } from '#dicom/value-locator.ts';
import { ctStorage, element, sampleDataSet, sequence } from '#test/support/data-set.ts';

const sizes = [1, 13, 100_000];

function fed<T extends { feed(chunk: Uint8Array): boolean }>(reader: T, bytes: Buffer, size: number): T {
	for (let at = 0; at < bytes.length; at += size) if (!reader.feed(bytes.subarray(at, at + size))) break;
	return reader;
}

const meta = { sopClassUid: ctStorage, sopInstanceUid: '1.2.3.4.5', transferSyntaxUid: explicitLittleEndian };

describe('the head of a file that arrives in pieces', () => {
	test('is read alike in pieces of any size, and what follows it is given back', () => {
		const head = part10Head(meta);
		const dataSet = sampleDataSet();
		for (const start of [0, 128, 132]) {
			const file = Buffer.concat([head.subarray(start), dataSet]);
			for (const size of sizes) {
				const reader = new FileMetaReader(100_000);
				let at = 0;
				for (let wants = true; wants && at < file.length; at += size) wants = reader.feed(Buffer.from(file.subarray(at, at + size)));
				const { meta: read, rest } = reader.end();
				assert.deepEqual(read, { ...meta, dataSetOffset: head.length - start });
				assert.ok(file.subarray(head.length - start, at).equals(rest), `${start} ${size}`);
			}
		}
	});

	test('ends when the bytes do, and is refused when it is too long', () => {
		const none = { sopClassUid: undefined, sopInstanceUid: undefined, transferSyntaxUid: undefined, dataSetOffset: 0 };
		assert.deepEqual(new FileMetaReader(1000).end(), { meta: none, rest: Buffer.alloc(0) });
		const short = new FileMetaReader(1000);
		assert.equal(short.feed(Buffer.from('abc')), true);
		assert.deepEqual(short.end(), { meta: none, rest: Buffer.from('abc') });
		const cut = new FileMetaReader(1000);
		cut.feed(part10Head(meta).subarray(0, 170));
		assert.throws(() => cut.end(), DataSetError);
		const long = new FileMetaReader(1000);
		const endless = Buffer.concat([part10Head(meta), element(0x0002_0102, 'OB', Buffer.alloc(2000), undefined, 1_000_000)]);
		assert.throws(() => long.feed(endless), DataSetError);
	});
});

describe('what a data set is an instance of', () => {
	const read = (bytes: Buffer, syntax = explicitLittleEndian, size = 100_000) =>
		fed(new SopIdentityReader(syntax, 10_000), bytes, size).end();
	const uids = { sopClassUid: ctStorage, sopInstanceUid: '1.2.3.4.5' };

	test('is read from its first bytes, in every encoding', () => {
		for (const size of sizes) {
			assert.deepEqual(read(sampleDataSet(), explicitLittleEndian, size), uids);
			assert.deepEqual(read(deflateRawSync(sampleDataSet()), '1.2.840.10008.1.2.1.99', size), uids);
			assert.deepEqual(read(sampleDataSet({ writing: { explicit: false, littleEndian: true } }), implicitLittleEndian, size), uids);
			assert.deepEqual(read(sampleDataSet({ writing: { explicit: true, littleEndian: false } }), '1.2.840.10008.1.2.2', size), uids);
		}
	});

	test('is refused where it does not say so', () => {
		const kind = (bytes: Buffer) => {
			const result = read(bytes);
			return 'fault' in result ? result.fault.kind : result;
		};
		const classUid = element(0x0008_0016, 'UI', ctStorage);
		assert.equal(kind(Buffer.concat([classUid, element(0x0010_0010, 'PN', 'A^B')])), 'missing');
		assert.equal(kind(Buffer.concat([element(0x0008_0018, 'UI', '1.2'), element(0x0010_0010, 'PN', 'A^B')])), 'missing');
		assert.equal(kind(Buffer.concat([classUid, element(0x0008_0018, 'UI', '1.a'), element(0x0010_0010, 'PN', 'A^B')])), 'value');
		assert.equal(kind(Buffer.alloc(0)), 'truncated');
		assert.equal(kind(Buffer.from('no data set at all')), 'encoding');
	});
});

describe('where the value of an element lies', () => {
	const nested = sequence(0x0008_1140, [
		element(0x0008_1155, 'UI', '9.8'),
		Buffer.concat([element(0x0008_1155, 'UI', '9.9'), sequence(0x0008_1199, [element(0x0009_1001, 'OB', Buffer.from('seek'))])]),
	]);
	const dataSet = Buffer.concat([
		sequence(0x0008_1115, [element(0x0009_1001, 'OB', Buffer.from('else'))], { isDefined: false }),
		nested,
		element(0x0028_0002, 'US', 3),
		element(0x0028_0008, 'IS', '12'),
		element(0x0028_0010, 'US', 512),
		element(0x0028_0011, 'US', 256),
		element(0x0028_0100, 'US', 16),
		element(0x7fe0_0010, 'OW', Buffer.alloc(64)),
	]);
	const locate = (path: string, bytes = dataSet, size = 100_000, syntax = explicitLittleEndian): LocatorResult =>
		fed(new ValueLocator(syntax, parseValuePath(path) ?? [], 10_000), bytes, size).end();

	test('is found at the top and in sequences, in pieces of any size', () => {
		for (const size of sizes) {
			const deep = locate('00081140.2.00081199.1.00091001', dataSet, size);
			assert.ok('located' in deep && deep.located);
			const { offset, length = 0, vr } = deep.located;
			assert.deepEqual([vr, dataSet.toString('latin1', offset, offset + length)], ['OB', 'seek']);
			assert.deepEqual(locate('7FE00010', dataSet, size), {
				located: { vr: 'OW', offset: dataSet.length - 64, length: 64 },
				shape: { rows: 512, columns: 256, samplesPerPixel: 3, bitsAllocated: 16, frames: 12 },
			});
			const deflated = locate('7FE00010', deflateRawSync(dataSet), size, '1.2.840.10008.1.2.1.99');
			assert.ok('located' in deflated);
			assert.equal(deflated.located?.offset, dataSet.length - 64);
		}
	});

	test('is not found elsewhere', () => {
		for (const path of [
			'00081140.1.00081199.1.00091001',
			'00081140.3.00081155',
			'00091001',
			'00280002.1.00091001',
			'7FE00011',
			'00081199',
		]) {
			const result = locate(path);
			assert.ok('located' in result ? result.located === undefined : false, path);
		}
		assert.ok('fault' in locate('7FE00010', dataSet.subarray(0, 30)));
		assert.ok('fault' in locate('7FE00010', Buffer.from('no data set at all')));
	});

	test('is named by tags and item numbers alone', () => {
		assert.deepEqual(parseValuePath('00081140.2.00091001'), [0x0008_1140, 2, 0x0009_1001]);
		for (const path of ['', '7fe00010', '00081140.2', '00081140.0.00091001', '00081140/2/00091001', `${'00081140.1.'.repeat(40)}00091001`])
			assert.equal(parseValuePath(path), undefined, path);
	});
});

test('every compressed transfer syntax of pixels has a media type of its own, and no other', () => {
	const without = [...transferSyntaxes.keys()].filter((uid) => bulkMediaTypeOf(uid) === undefined);
	const plain = ['', '.1', '.1.98', '.1.99', '.2', '.4.94', '.4.95', '.4.204', '.4.205', '.7.1', '.7.2', '.7.3', '.8.1'];
	assert.deepEqual(
		without,
		plain.map((rest) => `1.2.840.10008.1.2${rest}`),
	);
});
