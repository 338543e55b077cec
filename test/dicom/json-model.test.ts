import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { type DicomJson, dicomJsonText, JsonModelReader, type JsonModelResult } from '#dicom/json-model.ts';
import { readFileMeta } from '#dicom/part10.ts';
import { explicitLittleEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { corpusFiles } from '#test/support/corpus.ts';
import { element, explicitLittle, sampleDataSet, sequence } from '#test/support/data-set.ts';
import { fc, fuzzing } from '#test/support/fuzzing.ts';
import { corpusDirectory, without } from '#test/support/needs.ts';

const options = { bytesMax: 4 * 1024 * 1024, inlineBytesMax: 1024, bulkDataUri: (path: string) => `bulk/${path}` };

function read(bytes: Buffer, transferSyntaxUid = explicitLittleEndian, chunkBytes = bytes.length || 1): JsonModelResult {
	const reader = new JsonModelReader(transferSyntaxUid, options);
	for (let at = 0; at < bytes.length; at += chunkBytes) if (!reader.feed(bytes.subarray(at, at + chunkBytes))) break;
	return reader.end();
}

function json(...given: Parameters<typeof read>): DicomJson {
	const result = read(...given);
	assert.ok('json' in result, JSON.stringify(result));
	return result.json;
}

describe('the DICOM JSON Model', () => {
	test('as text is in the order of the tags, also where JavaScript has another', () => {
		const item = { '20010010': { vr: 'LO', Value: ['x'] }, '00080005': { vr: 'CS', Value: ['ISO_IR 192'] } };
		const text = dicomJsonText({ ...item, '00081140': { vr: 'SQ', Value: [item, {}] }, '00081115': { vr: 'SQ' } });
		assert.deepEqual(JSON.parse(text), { ...item, '00081140': { vr: 'SQ', Value: [item, {}] }, '00081115': { vr: 'SQ' } });
		const tags = [...text.matchAll(/"([0-9A-F]{8})"/g)].map(([, tag]) => tag);
		assert.deepEqual(tags, ['00080005', '00081115', '00081140', '00080005', '20010010', '20010010']);
	});

	test('of a data set, its bulk data by reference', () => {
		const found = json(sampleDataSet({ pixels: Buffer.alloc(3_000_000) }));
		assert.deepEqual(found['00080005'], { vr: 'CS', Value: ['ISO_IR 192'] });
		assert.deepEqual(found['00080008'], { vr: 'CS', Value: ['ORIGINAL', 'PRIMARY', 'AXIAL'] });
		assert.deepEqual(found['00081030'], { vr: 'LO', Value: ['Schädel'] });
		assert.deepEqual(found['00100010'], { vr: 'PN', Value: [{ Alphabetic: 'Müller^Jörg^^Dr.' }] });
		assert.deepEqual(found['00081140'], {
			vr: 'SQ',
			Value: [{ '00081155': { vr: 'UI', Value: ['9.9.9'] } }, { '0020000D': { vr: 'UI', Value: ['9.9'] } }],
		});
		assert.deepEqual(found['00080051'], { vr: 'SQ', Value: [{ '00400031': { vr: 'UT', Value: ['RIS'] } }] });
		assert.deepEqual(found['00191001'], { vr: 'UN', InlineBinary: Buffer.alloc(600, 7).toString('base64') });
		assert.deepEqual(found['00200013'], { vr: 'IS', Value: [17] });
		assert.deepEqual(found['00280010'], { vr: 'US', Value: [512] });
		assert.deepEqual(found['7FE00010'], { vr: 'OW', BulkDataURI: 'bulk/7FE00010' });
	});

	test('has the pixel data behind an offset table, and no group length', () => {
		const offsets = Buffer.from('0000000000000000', 'hex');
		const before = [element(0x7fe0_0000, 'UL', Buffer.from('10000000', 'hex')), element(0x7fe0_0001, 'OV', offsets)];
		for (const tag of [0x7fe0_0008, 0x7fe0_0009, 0x7fe0_0010]) {
			const pixels = element(tag, 'OW', Buffer.alloc(8));
			const found = json(Buffer.concat([element(0x0028_0010, 'US', Buffer.from('0200', 'hex')), ...before, pixels, Buffer.alloc(3)]));
			assert.deepEqual(found, {
				'00280010': { vr: 'US', Value: [2] },
				'7FE00001': { vr: 'OV', InlineBinary: offsets.toString('base64') },
				[tag.toString(16).toUpperCase()]: { vr: 'OW', BulkDataURI: `bulk/${tag.toString(16).toUpperCase()}` },
			});
		}
	});

	test('is the same in every transfer syntax and in chunks of any size', () => {
		const expected = json(sampleDataSet());
		// Implicit VR does not say what a private element is.
		const withoutPrivate = (model: DicomJson) => Object.fromEntries(Object.entries(model).filter(([tag]) => !tag.startsWith('0019')));
		for (const size of [1, 5, 100]) {
			assert.deepEqual(json(sampleDataSet(), explicitLittleEndian, size), expected);
			assert.deepEqual(json(deflateRawSync(sampleDataSet()), '1.2.840.10008.1.2.1.99', size), expected);
			const implicit = json(sampleDataSet({ writing: { explicit: false, littleEndian: true } }), implicitLittleEndian, size);
			assert.deepEqual(withoutPrivate(implicit), withoutPrivate(expected));
			assert.deepEqual(json(sampleDataSet({ writing: { explicit: true, littleEndian: false } }), '1.2.840.10008.1.2.2', size), expected);
		}
	});

	test('of each kind of value', () => {
		const of = (vr: string, value: string | Buffer, writing = explicitLittle) => {
			const syntax = writing.littleEndian ? explicitLittleEndian : '1.2.840.10008.1.2.2';
			return json(element(0x0009_1001, vr, value, writing), syntax)['00091001'];
		};
		const bytes = (hex: string) => Buffer.from(hex, 'hex');
		assert.deepEqual(of('DS', '1.5\\ 2 \\\\-3e2'), { vr: 'DS', Value: [1.5, 2, null, -300] });
		assert.deepEqual(of('IS', '12\\x'), { vr: 'IS', Value: [12, 'x'] });
		assert.deepEqual(of('LO', ''), { vr: 'LO' });
		assert.deepEqual(of('LO', '\\'), { vr: 'LO' });
		assert.deepEqual(of('LT', ' a\\b '), { vr: 'LT', Value: [' a\\b'] });
		assert.deepEqual(of('AT', bytes('10002000')), { vr: 'AT', Value: ['00100020'] });
		assert.deepEqual(of('SS', bytes('ffff0100')), { vr: 'SS', Value: [-1, 1] });
		assert.deepEqual(of('FL', bytes('0000c03f0000c07f')), { vr: 'FL', Value: [1.5, 'NaN'] });
		assert.deepEqual(of('FD', bytes('000000000000f83f')), { vr: 'FD', Value: [1.5] });
		assert.deepEqual(of('UV', bytes('ffffffffffffffff0100000000000000')), { vr: 'UV', Value: ['18446744073709551615', 1] });
		assert.deepEqual(of('PN', 'A^B=C=D\\'), { vr: 'PN', Value: [{ Alphabetic: 'A^B', Ideographic: 'C', Phonetic: 'D' }, null] });
		assert.deepEqual(of('OW', bytes('0001'), { explicit: true, littleEndian: false }), {
			vr: 'OW',
			InlineBinary: bytes('0100').toString('base64'),
		});
		assert.deepEqual(of('OB', Buffer.alloc(2000)), { vr: 'OB', BulkDataURI: 'bulk/00091001' });
	});

	test('what is written as UN is read by the VR of the standard, in little endian', () => {
		const big = { explicit: true, littleEndian: false };
		for (const [writing, syntax] of [[explicitLittle, explicitLittleEndian] as const, [big, '1.2.840.10008.1.2.2'] as const]) {
			const unknown = (tag: number, value: Buffer | string) => element(tag, 'UN', value, writing);
			const found = json(
				Buffer.concat([
					unknown(0x0008_0005, 'ISO_IR 100'),
					unknown(0x0008_0016, '1.2.3\0'),
					unknown(0x0009_0010, 'EXAMPLE 1.0'),
					unknown(0x0009_1001, 'private '),
					unknown(0x0010_0010, 'M\xfcller^Ida'),
					unknown(0x0028_0010, Buffer.from([0, 2])),
					unknown(0x0028_0103, Buffer.from([1, 0])),
					unknown(0x0028_0120, Buffer.from([0xfe, 0xff])),
					unknown(0x0040_0275, Buffer.from('feff00e000000000', 'hex')),
				]),
				syntax,
			);
			assert.deepEqual(found, {
				'00080005': { vr: 'CS', Value: ['ISO_IR 192'] },
				'00080016': { vr: 'UI', Value: ['1.2.3'] },
				'00090010': { vr: 'LO', Value: ['EXAMPLE 1.0'] },
				'00091001': { vr: 'UN', InlineBinary: Buffer.from('private ').toString('base64') },
				'00100010': { vr: 'PN', Value: [{ Alphabetic: 'Müller^Ida' }] },
				'00280010': { vr: 'US', Value: [512] },
				'00280103': { vr: 'US', Value: [1] },
				'00280120': { vr: 'SS', Value: [-2] },
				'00400275': { vr: 'UN', InlineBinary: '/v8A4AAAAAA=' },
			});
		}
	});

	test('in implicit VR, what does not begin with an item is no sequence, and what follows is read', () => {
		const implicit = { explicit: false, littleEndian: true };
		const of = (tag: number, value: Buffer | string) => element(tag, '', value, implicit);
		const bytes = Buffer.concat([
			of(0x0008_0110, 'short '),
			of(0x0008_1140, ''),
			of(0x0040_a170, 'FINDING OF OLD'),
			sequence(0x0040_a730, [of(0x0008_0104, 'an item ')], { writing: implicit, vr: '' }),
			of(0x0040_a993, 'behind'),
		]);
		for (const size of [1, 7, bytes.length]) {
			const found = json(bytes, implicitLittleEndian, size);
			assert.deepEqual(found['00080110'], { vr: 'UN', InlineBinary: Buffer.from('short ').toString('base64') });
			assert.deepEqual(found['00081140'], { vr: 'SQ' });
			assert.deepEqual(found['0040A170'], { vr: 'UN', InlineBinary: Buffer.from('FINDING OF OLD').toString('base64') });
			assert.deepEqual(found['0040A730'], { vr: 'SQ', Value: [{ '00080104': { vr: 'LO', Value: ['an item'] } }] });
			assert.ok(found['0040A993']);
		}
	});

	test('bulk data in an item is referred to by the way to it; a character set holds within its item', () => {
		const item = Buffer.concat([
			element(0x0008_0005, 'CS', 'ISO_IR 144'),
			element(0x0009_1001, 'LO', '\xbb'),
			element(0x0009_1002, 'OB', Buffer.alloc(2000)),
		]);
		const found = json(
			Buffer.concat([sequence(0x0008_1140, [Buffer.alloc(0), item], { isDefined: false }), element(0x0009_1001, 'LO', '\xe4')]),
		);
		const items = found['00081140']?.Value as DicomJson[];
		assert.deepEqual(items[0], {});
		assert.deepEqual(items[1]?.['00091001'], { vr: 'LO', Value: ['Л'] });
		assert.deepEqual(items[1]?.['00091002'], { vr: 'OB', BulkDataURI: 'bulk/00081140/2/00091002' });
		assert.deepEqual(found['00091001'], { vr: 'LO', Value: ['ä'] });
	});

	test('of what is damaged is a fault or a model, in any chunks alike', (context) => {
		const seed = sampleDataSet();
		fc.assert(
			fc.property(
				fc.nat(seed.length),
				fc.uint8Array({ maxLength: 10 }),
				fc.nat(10),
				fc.integer({ min: 1, max: 300 }),
				(at, bytes, drop, size) => {
					const damaged = Buffer.concat([seed.subarray(0, at), bytes, seed.subarray(at + drop)]);
					assert.deepEqual(read(damaged, explicitLittleEndian, size), read(damaged));
				},
			),
			fuzzing(context, 3000),
		);
	});
});

/** Tag, VR and values as texts; binary values, which DCMTK gives inline, and what only one side writes out are left aside. */
function comparable(model: DicomJson): Record<string, unknown> {
	const entries = Object.entries(model).flatMap(([tag, { vr, Value }]) => {
		if (/^(O.|UN)$/.test(vr) || tag.endsWith('0000') || tag === '00080005' || tag > '7FE00000' || /^...[13579BDF]/.test(tag)) return [];
		const values = (Value ?? []).map((value) => {
			if (value === null) return '';
			if (typeof value !== 'object') return typeof value === 'number' ? String(Math.fround(value)) : value.trim();
			return vr === 'SQ' ? comparable(value as DicomJson) : Object.values(value).map((group) => String(group).replace(/\^+$/, ''));
		});
		return [[tag, [vr, values]]];
	});
	return Object.fromEntries(entries.sort(([left], [right]) => (String(left) < String(right) ? -1 : 1)));
}

describe('DCMTK makes the same of the shared files', { skip: without('corpus', 'dcmtk') }, () => {
	test('element by element, items included', () => {
		let compared = 0;
		for (const { path, bytes } of corpusFiles('dicom').filter(({ expect }) => expect === 'accept')) {
			const { stdout, status } = spawnSync('dcm2json', ['-fc', join(corpusDirectory, path)], {
				encoding: 'utf8',
				maxBuffer: 512 * 1024 * 1024,
			});
			if (status !== 0) continue;
			const theirs = JSON.parse(stdout) as DicomJson;
			// It leaves other sets as they are.
			if (![undefined, 'ISO_IR 192'].includes(theirs['00080005']?.Value?.[0] as string | undefined)) continue;
			const { transferSyntaxUid = implicitLittleEndian, dataSetOffset } = readFileMeta(bytes);
			assert.deepEqual(comparable(json(bytes.subarray(dataSetOffset), transferSyntaxUid, 5000)), comparable(theirs), path);
			compared += 1;
		}
		assert.ok(compared >= 40, `${compared} files compared`);
	});
});
