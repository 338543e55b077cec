import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TagReader } from '#dicom/tag-list.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { element, sampleDataSet, sequence } from '#test/support/data-set.ts';

function listed(dataSet: Buffer, bytesMax = 65_536) {
	const reader = new TagReader(explicitLittleEndian, bytesMax);
	reader.feed(dataSet);
	return reader.end();
}

test('every element up to the pixel data is listed, with its name, in its character set, and those in sequences', () => {
	const { tags, fault, isFull } = listed(sampleDataSet());
	assert.deepEqual([fault, isFull], [undefined, false]);
	const by = new Map(tags.map((tag) => [tag.path, tag]));
	assert.deepEqual(by.get('00100010'), {
		...{ path: '00100010', vr: 'PN', keyword: 'PatientName', value: 'Müller^Jörg^^Dr.' },
		...{ length: 16, cut: false, creator: null },
	});
	assert.equal(by.get('00081140')?.value, '2 items');
	assert.deepEqual([by.get('00081140.2.0020000D')?.keyword, by.get('00081140.2.0020000D')?.value], ['StudyInstanceUID', '9.9']);
	assert.equal(by.get('00280010')?.value, '512');
	assert.deepEqual(tags.at(-1), { path: '7FE00010', vr: 'OW', keyword: 'PixelData', value: '', length: 64, cut: true, creator: null });
});

test('a private element has the name of its creator, and what is left out of a value is said', () => {
	const { tags } = listed(sampleDataSet());
	const own = tags.find(({ path }) => path === '00191001');
	assert.deepEqual([own?.creator, own?.keyword, own?.cut, own?.length], ['A PRIVATE CREATOR', '', true, 600]);
	const long = listed(Buffer.concat([element(0x0008_0080, 'UT', 'x'.repeat(10_000))])).tags[0];
	assert.deepEqual([long?.value.length, long?.length, long?.cut], [4096, 10_000, true]);
});

test('a data set that is broken or too long says so, and shows what came before', () => {
	const whole = sampleDataSet();
	const { tags, fault } = listed(whole.subarray(0, 200));
	assert.equal(fault?.kind, 'truncated');
	assert.ok(tags.length > 2);
	assert.equal(
		listed(
			sequence(
				0x0008_1140,
				Array.from({ length: 500 }, () => element(0x0008_1155, 'UI', '1.2')),
			),
			1024,
		).fault?.kind,
		'too-large',
	);
});
