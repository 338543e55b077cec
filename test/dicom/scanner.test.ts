import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { DataSetScanner, type ScanResult } from '#dicom/scanner.ts';
import { explicitLittleEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import type { InstanceAttributes } from '#record/instance.ts';
import { element, explicitLittle, sampleDataSet, sequence, type Writing } from '#test/support/data-set.ts';
import { fc, fuzzing } from '#test/support/fuzzing.ts';

const explicitBigEndian = '1.2.840.10008.1.2.2';
const deflated = '1.2.840.10008.1.2.1.99';
const limits = { headerBytesMax: 1024 * 1024 };

function scan(
	bytes: Buffer,
	transferSyntaxUid = explicitLittleEndian,
	chunkBytes = bytes.length || 1,
	headerBytesMax = limits.headerBytesMax,
): ScanResult {
	const scanner = new DataSetScanner(transferSyntaxUid, { headerBytesMax });
	for (let at = 0; at < bytes.length; at += chunkBytes) if (!scanner.feed(bytes.subarray(at, at + chunkBytes))) break;
	return scanner.end();
}

function attributes(...given: Parameters<typeof scan>): InstanceAttributes {
	const result = scan(...given);
	assert.ok('attributes' in result, JSON.stringify(result));
	return result.attributes;
}

function faultKind(...given: Parameters<typeof scan>): string {
	const result = scan(...given);
	assert.ok('fault' in result, 'the data set was read');
	assert.match(result.fault.text, /^[\x20-\x7e]+$/);
	return result.fault.kind;
}

const expected: InstanceAttributes = {
	sopClassUid: '1.2.840.10008.5.1.4.1.1.2',
	sopInstanceUid: '1.2.3.4.5',
	studyUid: '1.2.3',
	seriesUid: '1.2.3.4',
	transferSyntaxUid: explicitLittleEndian,
	patient: {
		id: 'P-1',
		issuer: 'HOSPITAL',
		name: { family: 'Müller', given: 'Jörg', middle: '', prefix: 'Dr.', suffix: '', ideographic: '', phonetic: '' },
		birthDate: undefined,
		gender: 'male',
	},
	study: {
		started: '2024-01-31T10:20:30',
		accessionNumber: 'ACC-1',
		accessionIssuer: 'RIS',
		studyId: 'S1',
		description: 'Schädel',
		referringPhysician: 'Doe^Jane',
	},
	series: {
		modality: 'CT',
		number: 2,
		description: 'axial 5 mm',
		bodyPart: 'HEAD',
		station: 'CT-SCANNER-2',
		started: '2024-01-31T10:21:00',
	},
	number: 17,
	timezoneOffset: undefined,
	rows: 512,
	columns: 256,
	frames: 1,
};

const writings: [string, Writing][] = [
	[explicitLittleEndian, explicitLittle],
	[implicitLittleEndian, { explicit: false, littleEndian: true }],
	[explicitBigEndian, { explicit: true, littleEndian: false }],
];

/** Identifying elements and whatever else is put between patient and study. */
function around(...elements: Buffer[]): Buffer {
	return Buffer.concat([
		element(0x0008_0016, 'UI', '1.2'),
		element(0x0008_0018, 'UI', '1.2.3'),
		...elements,
		element(0x0020_000d, 'UI', '1.4'),
		element(0x0020_000e, 'UI', '1.5'),
	]);
}

describe('what identifies an instance', () => {
	for (const [transferSyntaxUid, writing] of writings) {
		test(`is read in ${transferSyntaxUid}, in chunks of any size`, () => {
			const bytes = sampleDataSet({ writing });
			for (const size of [1, 2, 3, 7, 12, 100, bytes.length]) {
				assert.deepEqual(attributes(bytes, transferSyntaxUid, size), { ...expected, transferSyntaxUid });
			}
		});
	}

	test('is read from a deflated data set, and no further than needed', () => {
		const bytes = deflateRawSync(sampleDataSet({ pixels: Buffer.alloc(50_000_000) }));
		for (const size of [1, 100, bytes.length]) {
			assert.deepEqual(attributes(bytes.subarray(0, 3000), deflated, size), { ...expected, transferSyntaxUid: deflated });
		}
	});

	test('is enough: the pixel data may be missing, and is not asked for', () => {
		const bytes = sampleDataSet();
		const scanner = new DataSetScanner(explicitLittleEndian, limits);
		assert.equal(scanner.feed(bytes.subarray(0, bytes.length - 90)), true);
		assert.equal(scanner.feed(bytes.subarray(bytes.length - 90)), false);
		assert.ok('attributes' in scanner.end());
		assert.equal(attributes(bytes.subarray(0, bytes.length - 64)).columns, 256);
	});

	test('is read from an instance without an image', () => {
		const found = attributes(around(element(0x0008_0060, 'CS', 'SR')));
		assert.deepEqual([found.series.modality, found.rows, found.patient.id, found.patient.name], ['SR', undefined, undefined, undefined]);
	});

	test('never comes from within a sequence or a private element', () => {
		const inside = [element(0x0010_0020, 'LO', 'WRONG'), element(0x0020_000d, 'UI', '9.9')];
		for (const isDefined of [true, false]) {
			const nested = sequence(0x0008_1140, [Buffer.concat([sequence(0x0008_1199, inside, { isDefined }), ...inside]), ...inside], {
				isDefined,
			});
			const found = attributes(around(nested, element(0x0009_0020, 'LO', 'WRONG'), element(0x0010_0020, 'LO', 'RIGHT')));
			assert.deepEqual([found.patient.id, found.studyUid], ['RIGHT', '1.4']);
		}
		const issuer = sequence(0x0010_0024, [
			Buffer.concat([sequence(0x0040_0032, [element(0x0010_0020, 'LO', 'WRONG')]), element(0x0010_0020, 'LO', 'WRONG')]),
			element(0x0040_0032, 'UT', '1.2.second'),
		]);
		const found = attributes(around(element(0x0010_0020, 'LO', 'RIGHT'), issuer));
		assert.deepEqual(found.patient, { id: 'RIGHT', issuer: undefined, name: undefined, birthDate: undefined, gender: undefined });
	});

	test('has an issuer by (0010,0021), else by the universal entity of (0010,0024)', () => {
		const qualifiers = sequence(0x0010_0024, [element(0x0040_0032, 'UT', '1.2.40')], { isDefined: false });
		assert.equal(attributes(around(element(0x0010_0021, 'LO', 'A'), qualifiers)).patient.issuer, 'A');
		assert.equal(attributes(around(element(0x0010_0021, 'LO', ' '), qualifiers)).patient.issuer, '1.2.40');
		const accession = sequence(0x0008_0051, [element(0x0040_0032, 'UT', '1.2.41')]);
		assert.equal(attributes(around(accession)).study.accessionIssuer, '1.2.41');
	});

	test('a UN of undefined length holds implicit VR items', () => {
		const writing = { explicit: false, littleEndian: true };
		const items = [element(0x0009_1002, 'LO', 'inner', writing), sequence(0x0009_1003, [], { isDefined: false, writing })];
		const unknown = sequence(0x0009_1001, items, { isDefined: false, writing });
		const header = Buffer.concat([unknown.subarray(0, 4), Buffer.from('UN\0\0\xff\xff\xff\xff', 'latin1')]);
		assert.equal(attributes(around(Buffer.concat([header, unknown.subarray(8)]), element(0x0010_0020, 'LO', 'P'))).patient.id, 'P');
	});

	test('fragments of bulk data are passed over', () => {
		const fragments = sequence(0x0009_1001, [Buffer.alloc(70, 1), Buffer.alloc(10, 2)], { vr: 'OB' });
		const open = Buffer.from(fragments);
		open.writeUInt32LE(0xff_ff_ff_ff, 8);
		const end = Buffer.from('feffdde000000000', 'hex');
		assert.equal(attributes(around(open, end, element(0x0010_0020, 'LO', 'P'))).patient.id, 'P');
	});

	test('VRs of a later edition have the long form, impossible ones the short', () => {
		const later = Buffer.concat([Buffer.from('09000110', 'hex'), Buffer.from('ZZ\0\0\x04\0\0\0abcd', 'latin1')]);
		const wrong = Buffer.concat([Buffer.from('09000210', 'hex'), Buffer.from('??\x04\0abcd', 'latin1')]);
		assert.equal(attributes(around(later, wrong, element(0x0010_0020, 'LO', 'P'))).patient.id, 'P');
	});

	test('control characters and padding are no part of a text', () => {
		const found = attributes(around(element(0x0008_1030, 'LO', ' a\0b\tc \0'), element(0x0010_0020, 'LO', '\0 \0 ')));
		assert.equal(found.study.description, 'a b c');
		assert.equal(found.patient.id, undefined);
	});
});

describe('what cannot be filed', () => {
	test('each missing identifying element is named', () => {
		for (const [missing, keyword] of [
			[{ sopClassUid: '' }, 'SOPClassUID'],
			[{ sopInstanceUid: '' }, 'SOPInstanceUID'],
			[{ studyUid: '' }, 'StudyInstanceUID'],
			[{ seriesUid: '' }, 'SeriesInstanceUID'],
		] as const) {
			assert.deepEqual(scan(sampleDataSet(missing)), { fault: { kind: 'missing', text: `${keyword} is missing` } });
		}
	});

	test('a UID that is none, and an identifier without end', () => {
		for (const uid of ['1.2.', '.1', '1..2', '1.02', 'abc', '../../x', '1'.repeat(65), '1.2\\1.3', '1 2']) {
			assert.equal(faultKind(sampleDataSet({ studyUid: uid })), 'value', uid);
		}
		for (const length of [502, 5000]) assert.equal(faultKind(sampleDataSet({ patientId: 'x'.repeat(length) })), 'value');
		assert.equal(attributes(sampleDataSet({ patientId: 'x'.repeat(500) })).patient.id?.length, 500);
		assert.equal(faultKind(around(element(0x0008_0050, 'SH', 'x'.repeat(600)))), 'value');
	});

	test('an element that ends beyond its sequence, or beyond the data', () => {
		const long = sequence(0x0008_0051, [element(0x0008_1150, 'LO', 'abcd', explicitLittle, 40)]);
		assert.equal(faultKind(around(long)), 'structure');
		for (const length of [6, 100, 0xff_fe])
			assert.notEqual(faultKind(around(element(0x0010_0010, 'PN', 'ab', explicitLittle, length))), '');
		const huge = element(0x0009_1001, 'OB', 'abcd', explicitLittle, 0xff_ff_ff_f0);
		assert.equal(faultKind(around(huge)), 'truncated');
	});

	test('items and delimiters where there are none', () => {
		const delimiters = ['feff00e000000000', 'feff0de000000000', 'feffdde000000000'];
		for (const hex of delimiters) assert.equal(faultKind(around(Buffer.from(hex, 'hex'))), 'structure');
		const open = element(0x0008_1140, 'SQ', Buffer.alloc(0), explicitLittle, 0xff_ff_ff_ff);
		assert.equal(faultKind(around(open, element(0x0010_0020, 'LO', 'P'))), 'structure');
		assert.equal(faultKind(Buffer.concat([around(), open])), 'truncated');
	});

	test('sequences too deep in one another', () => {
		const open = Buffer.concat([
			element(0x0008_1140, 'SQ', Buffer.alloc(0), explicitLittle, 0xff_ff_ff_ff),
			Buffer.from('feff00e0ffffffff', 'hex'),
		]);
		assert.equal(faultKind(Buffer.concat([...Array.from({ length: 10_000 }, () => open)])), 'too-large');
	});

	test('more header than is read, deflated or not', () => {
		const many = Buffer.concat(Array.from({ length: 20_000 }, () => element(0x0009_1001, 'LO', 'x')));
		assert.equal(faultKind(around(many), explicitLittleEndian, 5000, 100_000), 'too-large');
		assert.equal(faultKind(deflateRawSync(around(many)), deflated, 5000, 100_000), 'too-large');
		assert.equal(
			faultKind(deflateRawSync(around(Buffer.alloc(0), element(0x0009_1001, 'OB', Buffer.alloc(40_000_000)))), deflated, 5000, 100_000),
			'too-large',
		);
	});

	test('the same identifying element twice', () => {
		const twice = [element(0x0010_0020, 'LO', 'A'), element(0x0010_0020, 'LO', 'B')];
		assert.equal(faultKind(around(...twice)), 'structure');
	});

	test('another transfer syntax than announced', () => {
		assert.equal(faultKind(sampleDataSet({ writing: { explicit: false, littleEndian: true } })), 'encoding');
		assert.equal(faultKind(sampleDataSet(), deflated), 'encoding');
		assert.ok(['encoding', 'truncated', 'structure', 'missing'].includes(faultKind(sampleDataSet(), implicitLittleEndian)));
		assert.equal(faultKind(Buffer.concat([Buffer.alloc(128), Buffer.from('DICM'), sampleDataSet()])), 'encoding');
	});

	test('nothing at all', () => {
		for (const [transferSyntaxUid] of [...writings, [deflated]]) assert.equal(faultKind(Buffer.alloc(0), transferSyntaxUid), 'truncated');
	});
});

/** Everything behind Columns that a data set may end with. */
const endings = (writing: Writing): [string, Buffer][] => {
	const of = (tag: number, vr: string, value: Buffer) => element(tag, vr, value, writing);
	const overlay = of(0x6000_3000, 'OW', Buffer.alloc(20, 5));
	const nested = (isDefined: boolean) =>
		sequence(0x5200_9230, [sequence(0x0028_9110, [of(0x0028_0030, 'DS', Buffer.from('1\\1 '))], { isDefined, writing })], {
			isDefined,
			writing,
		});
	const endings: [string, Buffer][] = [
		['native pixel data', of(0x7fe0_0010, 'OW', Buffer.alloc(64, 1))],
		['sequences of defined length', Buffer.concat([nested(true), overlay])],
		['sequences of undefined length', nested(false)],
		['padding', of(0xfffc_fffc, 'OB', Buffer.alloc(10))],
	];
	if (writing.explicit) {
		const fragments = sequence(0x7fe0_0010, [Buffer.alloc(0), Buffer.alloc(30, 0xff), Buffer.alloc(12, 0xfe)], { vr: 'OB' });
		const open = Buffer.from(fragments);
		open.writeUInt32LE(0xff_ff_ff_ff, 8);
		if (writing.littleEndian) endings.push(['encapsulated pixel data', Buffer.concat([open, Buffer.from('feffdde000000000', 'hex')])]);
	}
	return endings;
};

describe('a data set that is cut off behind what identifies it', () => {
	const cutOf = (bytes: Buffer, transferSyntaxUid: string, chunkBytes: number) => {
		const scanner = new DataSetScanner(transferSyntaxUid, limits);
		for (let at = 0; at < bytes.length; at += chunkBytes) scanner.feed(bytes.subarray(at, at + chunkBytes));
		assert.ok('attributes' in scanner.end());
		return scanner.cut();
	};

	for (const [transferSyntaxUid, writing] of writings) {
		for (const [what, ending] of endings(writing)) {
			test(`shows at every byte of ${what} in ${transferSyntaxUid}`, () => {
				const before = sampleDataSet({ writing, pixels: Buffer.alloc(0) });
				const bytes = Buffer.concat([before, ending]);
				for (const size of [1, 7, 4096]) assert.equal(cutOf(bytes, transferSyntaxUid, size), undefined);
				for (let length = before.length + 1; length < bytes.length; length++) {
					// Between two elements the beginning is a data set too.
					const isBetween = what === 'sequences of defined length' && length === bytes.length - 20 - (writing.explicit ? 12 : 8);
					const fault = cutOf(bytes.subarray(0, length), transferSyntaxUid, 97);
					assert.equal(fault?.kind, isBetween ? undefined : 'truncated', `${length} of ${bytes.length} bytes`);
				}
			});
		}
	}

	test('shows however deep the headers are that are passed over', () => {
		const many = Buffer.concat(Array.from({ length: 200_000 }, () => element(0x0029_1001, 'LO', 'xy')));
		const bytes = Buffer.concat([sampleDataSet({ pixels: Buffer.alloc(0) }), many]);
		assert.equal(cutOf(bytes, explicitLittleEndian, 5000), undefined);
		assert.equal(cutOf(bytes.subarray(0, -1), explicitLittleEndian, 5000)?.kind, 'truncated');
	});

	test('is not what ends with zeros to an even length, nor what cannot be walked through', () => {
		const odd = Buffer.concat([sampleDataSet({ pixels: Buffer.alloc(3, 1) }), Buffer.alloc(1)]);
		assert.equal(cutOf(odd, explicitLittleEndian, 100), undefined);
		assert.equal(cutOf(Buffer.concat([sampleDataSet(), Buffer.alloc(1)]), explicitLittleEndian, 100)?.kind, 'truncated');
		const broken = Buffer.concat([sampleDataSet(), Buffer.from('feff00e000000000feff', 'hex')]);
		assert.equal(cutOf(broken, explicitLittleEndian, 100), undefined);
	});
});

describe('damaged data sets', () => {
	const seeds = [
		...writings.map(([uid, writing]) => [uid, sampleDataSet({ writing })] as const),
		[deflated, deflateRawSync(sampleDataSet())] as const,
	];
	const edit = fc.record({ at: fc.nat(1200), bytes: fc.uint8Array({ maxLength: 12 }), drop: fc.nat(12) });

	test('are read or refused; they never throw, whatever the chunks, and the same in any', (context) => {
		fc.assert(
			fc.property(
				fc.constantFrom(...seeds),
				fc.array(edit, { minLength: 1, maxLength: 6 }),
				fc.integer({ min: 1, max: 400 }),
				([uid, seed], edits, size) => {
					let bytes = seed;
					for (const { at, bytes: put, drop } of edits) bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + drop)]);
					const whole = scan(bytes, uid);
					assert.deepEqual(scan(bytes, uid, size), whole);
					if ('attributes' in whole) assert.match(whole.attributes.studyUid, /^[0-9.]{1,64}$/);
					else assert.doesNotMatch(whole.fault.text, /ller|P-1|ACC/);
				},
			),
			fuzzing(context, 6000),
		);
	});

	test('no length in them makes the scanner allocate', () => {
		const before = process.memoryUsage().arrayBuffers;
		const held = Array.from({ length: 2000 }, (_, index) => {
			const bytes = around(element(index % 2 === 0 ? 0x0010_0010 : 0x0009_1001, 'UN', 'ab', explicitLittle, 0x7f_ff_ff_f0));
			const scanner = new DataSetScanner(explicitLittleEndian, limits);
			scanner.feed(bytes);
			return scanner;
		});
		assert.ok(process.memoryUsage().arrayBuffers - before < 64 * 1024 * 1024);
		assert.equal(held.length, 2000);
	});
});
