import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import type { PictureWish } from '#rendering/picture.ts';
import { render } from '#rendering/render.ts';
import type { RenderingTask } from '#rendering/task.ts';
import { element, sequence } from '#test/support/data-set.ts';
import { encodedImage } from '#test/support/encoded-image.ts';
import { readPng } from '#test/support/png.ts';

const native = '1.2.840.10008.1.2.1';
const wish: PictureWish = { mediaType: 'image/png', quality: 90, window: undefined, viewport: undefined };

interface Given {
	rows?: number;
	columns?: number;
	samples?: number;
	bits?: number;
	stored?: number;
	isSigned?: boolean;
	photometric?: string;
	isPlanar?: boolean;
	further?: readonly Buffer[];
	/** Elements of other groups, which stand behind. */
	behind?: readonly Buffer[];
	bytes: Uint8Array;
	transferSyntaxUid?: string;
	isFloat?: boolean;
	frame?: number;
	wish?: Partial<PictureWish>;
}

function taskOf(given: Given): RenderingTask {
	const { rows = 1, columns = 4, samples = 1, bits = 8, stored = bits, isSigned = false, photometric = 'MONOCHROME2' } = given;
	const header = Buffer.concat([
		element(0x0028_0002, 'US', samples),
		element(0x0028_0004, 'CS', photometric),
		element(0x0028_0006, 'US', given.isPlanar === true ? 1 : 0),
		element(0x0028_0010, 'US', rows),
		element(0x0028_0011, 'US', columns),
		element(0x0028_0100, 'US', bits),
		element(0x0028_0101, 'US', stored),
		element(0x0028_0102, 'US', stored - 1),
		element(0x0028_0103, 'US', isSigned ? 1 : 0),
		...(given.further ?? []),
		...(given.behind ?? []),
	]);
	const { bytes, transferSyntaxUid = native, isFloat = false, frame = 0 } = given;
	const isEncapsulated = transferSyntaxUid !== native;
	return {
		header,
		transferSyntaxUid,
		frame,
		bytes,
		isEncapsulated,
		bitOffset: 0,
		isFloat,
		wish: { ...wish, ...given.wish },
		pixelsMax: 10_000_000,
	};
}

async function shown(given: Given): Promise<number[]> {
	const result = await render(taskOf(given));
	assert.equal(result.kind, 'rendered', JSON.stringify(result));
	return result.kind === 'rendered' ? [...readPng(Buffer.from(result.bytes)).bytes] : [];
}

async function reason(given: Given): Promise<string> {
	const result = await render(taskOf(given));
	return result.kind === 'refused' ? result.reason : assert.fail('it is shown');
}

const words = (...values: number[]) => new Uint8Array(Int16Array.from(values).buffer);
const window = (center: number, width: number, more: Buffer[] = []) => [
	element(0x0028_1050, 'DS', String(center)),
	element(0x0028_1051, 'DS', String(width)),
	...more,
];
const rescale = (slope: number, intercept: number) => [
	element(0x0028_1052, 'DS', String(intercept)),
	element(0x0028_1053, 'DS', String(slope)),
];
const table = (first: number, bits: number, entries: number[]) =>
	Buffer.concat([
		element(0x0028_3002, 'US', Buffer.from(words(entries.length, first, bits))),
		element(0x0028_3006, 'US', Buffer.from(words(...entries))),
	]);

describe('grey', () => {
	const cases: [title: string, given: Given, expected: number[]][] = [
		['8 bits are shown as they are', { bytes: Uint8Array.of(0, 1, 128, 255) }, [0, 1, 128, 255]],
		['MONOCHROME1 is turned round', { photometric: 'MONOCHROME1', bytes: Uint8Array.of(0, 1, 128, 255) }, [255, 254, 127, 0]],
		[
			'so is a Presentation LUT Shape of INVERSE, and only once',
			{ photometric: 'MONOCHROME1', behind: [element(0x2050_0020, 'CS', 'INVERSE')], bytes: Uint8Array.of(0, 1, 128, 255) },
			[255, 254, 127, 0],
		],
		['16 bits without a window go from the smallest to the largest', { bits: 16, bytes: words(100, 200, 300, 612) }, [0, 50, 100, 255]],
		[
			'padding has no say in that',
			{ bits: 16, isSigned: true, further: [element(0x0028_0120, 'SS', Buffer.from(words(-2000)))], bytes: words(-2000, 0, 51, 255) },
			[0, 0, 51, 255],
		],
		[
			'12 bits of 16 have their sign',
			{ bits: 16, stored: 12, isSigned: true, further: window(0, 4096), bytes: words(0x0800, 0x0fff, 0, 0x07ff) },
			[0, 127, 128, 255],
		],
		[
			'the rescale comes before the window',
			{ bits: 16, further: [...window(0, 256), ...rescale(2, -1024)], bytes: words(448, 512, 544, 576) },
			[0, 128, 192, 255],
		],
		['a window of width 1 is a step', { further: window(100, 1), bytes: Uint8Array.of(98, 99, 100, 101) }, [0, 0, 255, 255]],
		[
			'LINEAR_EXACT',
			{ further: window(128, 256, [element(0x0028_1056, 'CS', 'LINEAR_EXACT')]), bytes: Uint8Array.of(0, 64, 128, 255) },
			[0, 64, 128, 254],
		],
		[
			'SIGMOID',
			{ further: window(128, 256, [element(0x0028_1056, 'CS', 'SIGMOID')]), bytes: Uint8Array.of(0, 64, 128, 255) },
			[30, 69, 128, 224],
		],
		[
			'a Modality LUT',
			{ further: [...window(128, 256), sequence(0x0028_3000, [table(1, 16, [0, 128, 255])])], bytes: Uint8Array.of(0, 1, 2, 3) },
			[0, 0, 128, 255],
		],
		[
			'items of a Modality LUT and a VOI LUT without descriptor and data are as none',
			{
				further: [
					sequence(0x0028_3000, [element(0x0028_3003, 'LO', 'nothing')]),
					sequence(0x0028_3010, [
						Buffer.concat([element(0x0028_3002, 'US', Buffer.alloc(0)), element(0x0028_3006, 'OW', Buffer.alloc(0))]),
						table(1, 10, [0, 512, 1023]),
					]),
				],
				bytes: Uint8Array.of(0, 1, 2, 9),
			},
			[0, 0, 128, 255],
		],
		['a VOI LUT', { further: [sequence(0x0028_3010, [table(1, 10, [0, 512, 1023])])], bytes: Uint8Array.of(0, 1, 2, 9) }, [0, 0, 128, 255]],
		[
			'a VOI LUT of values that are never negative begins above 32,767',
			{ bits: 16, further: [sequence(0x0028_3010, [table(40_000, 8, [0, 128, 255])])], bytes: words(39_000, 40_000, 40_001, 65_000) },
			[0, 0, 128, 255],
		],
		[
			'a VOI LUT of values that may be negative begins below 0',
			{
				bits: 16,
				further: [...rescale(1, -1024), sequence(0x0028_3010, [table(-1000, 8, [0, 128, 255])])],
				bytes: words(0, 24, 25, 2000),
			},
			[0, 0, 128, 255],
		],
		[
			'32 bits',
			{ bits: 32, bytes: new Uint8Array(Uint32Array.of(0, 1_000_000_000, 2_000_000_000, 4_000_000_000).buffer) },
			[0, 64, 128, 255],
		],
		['floats', { bits: 32, isFloat: true, bytes: new Uint8Array(Float32Array.of(0, 0.25, 0.5, 1).buffer) }, [0, 64, 128, 255]],
		['single bits', { bits: 1, bytes: Uint8Array.of(0b1010) }, [0, 255, 0, 255]],
	];
	for (const [title, given, expected] of cases) test(title, async () => assert.deepEqual(await shown(given), expected));

	test('a table with a descriptor and without its data, or with too little, is refused', async () => {
		const descriptor = element(0x0028_3002, 'US', Buffer.from(words(4, 0, 8)));
		const data = element(0x0028_3006, 'US', Buffer.from(words(1)));
		const bytes = Uint8Array.of(0, 1, 2, 9);
		for (const tag of [0x0028_3000, 0x0028_3010]) {
			assert.match(await reason({ further: [sequence(tag, [descriptor])], bytes }), /no descriptor or no data/);
			assert.match(await reason({ further: [sequence(tag, [data])], bytes }), /no descriptor or no data/);
			assert.match(await reason({ further: [sequence(tag, [Buffer.concat([descriptor, data])])], bytes }), /shorter than its descriptor/);
		}
	});

	test('a frame has the window and the rescale of its own item, else those of all frames', async () => {
		const voi = (center: number) => sequence(0x0028_9132, [Buffer.concat(window(center, 256))]);
		const behind = [
			sequence(0x5200_9229, [Buffer.concat([sequence(0x0028_9145, [Buffer.concat(rescale(1, -100))]), voi(1128)])]),
			sequence(0x5200_9230, [voi(28), sequence(0x0008_1140, [])]),
		];
		const given = { bits: 16, behind, bytes: words(0, 128, 192, 255) };
		assert.deepEqual(await shown({ ...given, frame: 0 }), [0, 128, 192, 255]);
		assert.deepEqual(await shown({ ...given, frame: 1 }), [0, 0, 0, 0]);
	});
});

describe('colour', () => {
	const pixels = [255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30];
	const rgb = { samples: 3, photometric: 'RGB' };

	test('by pixel and by plane', async () => {
		const planes = [0, 1, 2].flatMap((plane) => pixels.filter((_, index) => index % 3 === plane));
		assert.deepEqual(await shown({ ...rgb, bytes: Uint8Array.from(pixels) }), pixels);
		assert.deepEqual(await shown({ ...rgb, isPlanar: true, bytes: Uint8Array.from(planes) }), pixels);
	});

	test('luminance and chrominance, also shared by two pixels', async () => {
		const grey = [10, 10, 10, 200, 200, 200];
		assert.deepEqual(
			await shown({ samples: 3, photometric: 'YBR_FULL', columns: 2, bytes: Uint8Array.of(10, 128, 128, 200, 128, 128) }),
			grey,
		);
		assert.deepEqual(await shown({ samples: 3, photometric: 'YBR_FULL_422', columns: 2, bytes: Uint8Array.of(10, 200, 128, 128) }), grey);
	});

	test('palettes, of 16 bits and with only the lower half of them filled', async () => {
		const palette = (descriptor: number, entries: number[]) => [
			element(0x0028_1100 + descriptor, 'US', Buffer.from(words(entries.length, 0, 16))),
			element(0x0028_1200 + descriptor, 'OW', Buffer.from(words(...entries))),
		];
		const sorted = (parts: Buffer[]) => parts.sort((left, right) => left.readUInt16LE(2) - right.readUInt16LE(2));
		const wide = sorted([...palette(1, [0, 0x7f00]), ...palette(2, [0x1000, 0]), ...palette(3, [0, 0x6400])]);
		const given = { photometric: 'PALETTE COLOR', columns: 2, bytes: Uint8Array.of(1, 0) };
		assert.deepEqual(await shown({ ...given, further: wide }), [0x7f, 0, 0x64, 0, 0x10, 0]);
		const narrow = sorted([...palette(1, [0, 0x7f]), ...palette(2, [0x10, 0]), ...palette(3, [0, 0x64])]);
		assert.deepEqual(await shown({ ...given, further: narrow }), [0x7f, 0, 0x64, 0, 0x10, 0]);
	});

	test('segmented palettes: single entries, lines and copies, of 8 and of 16 bits', async () => {
		const palettes = (bits: number, segments: Uint8Array, entries = 7) => [
			...[1, 2, 3].map((colour) => element(0x0028_1100 + colour, 'US', Buffer.from(words(entries, 0, bits)))),
			...[1, 2, 3].map((colour) => element(0x0028_1220 + colour, 'OW', Buffer.from(segments))),
		];
		const given = { photometric: 'PALETTE COLOR', columns: 7, bytes: Uint8Array.of(0, 1, 2, 3, 4, 5, 6) };
		// Two entries, a line of two more, and both segments but the last entry once again by their offset.
		const expected = [10, 20, 30, 40, 10, 20, 30].flatMap((grey) => [grey, grey, grey]);
		const wide = words(0, 2, 10 << 8, 20 << 8, 1, 2, 40 << 8, 2, 1, 0, 0, 1, 1, 30 << 8);
		assert.deepEqual(await shown({ ...given, further: palettes(16, wide) }), expected);
		const narrow = Uint8Array.of(0, 2, 10, 20, 1, 2, 40, 2, 1, 0, 0, 0, 0, 1, 1, 30);
		assert.deepEqual(await shown({ ...given, further: palettes(8, narrow) }), expected);
		const endless = Uint8Array.of(0, 1, 10, 0, 2, 1, 3, 0, 0, 0);
		for (const [segments, entries] of [
			[narrow, 9],
			[narrow, 5],
			[endless, 7],
			[Uint8Array.of(1, 2, 40, 0), 2],
			[Uint8Array.of(7, 1), 1],
		] as const) {
			assert.match(await reason({ ...given, further: palettes(8, segments, entries) }), /segments of a palette/);
		}
	});

	test('other colour models are refused by name', async () => {
		assert.match(await reason({ samples: 3, photometric: 'HSV', bytes: new Uint8Array(12) }), /HSV is not shown/);
	});
});

describe('compressed images', () => {
	const count = 40 * 30;
	const shape = { rows: 30, columns: 40 };
	const info = { width: shape.columns, height: shape.rows, isSigned: false };
	const grey = new Uint8Array(Uint16Array.from({ length: count }, (_, index) => (index * 37) % 4096).buffer);
	const colour = Uint8Array.from({ length: count * 3 }, (_, index) => (index * 7) % 256);
	const syntaxes: [title: string, syntax: string, name: string, encoder: string, isPlanar: boolean][] = [
		['JPEG-LS', '1.2.840.10008.1.2.4.80', 'codec-charls', 'JpegLSEncoder', true],
		['HTJ2K', '1.2.840.10008.1.2.4.201', 'codec-openjph', 'HTJ2KEncoder', false],
	];
	for (const [title, transferSyntaxUid, name, encoder, isPlanar] of syntaxes) {
		test(`${title} shows what the open image shows, and no broken stream does`, async () => {
			const stream = await encodedImage(
				name,
				encoder,
				{ ...info, bitsPerSample: 12, componentCount: 1, isUsingColorTransform: false },
				grey,
			);
			const given = { ...shape, bits: 16, stored: 12 };
			assert.deepEqual(await shown({ ...given, transferSyntaxUid, bytes: stream }), await shown({ ...given, bytes: grey }));
			const coloured = { ...shape, samples: 3, photometric: 'RGB' };
			const inColour = await encodedImage(
				name,
				encoder,
				{ ...info, bitsPerSample: 8, componentCount: 3, isUsingColorTransform: true },
				colour,
			);
			assert.deepEqual(
				await shown({ ...coloured, transferSyntaxUid, bytes: inColour }),
				isPlanar ? await shown({ ...coloured, isPlanar, bytes: colour }) : [...colour],
			);
			assert.match(await reason({ ...given, columns: 41, transferSyntaxUid, bytes: stream }), /another size/);
			assert.match(await reason({ ...given, transferSyntaxUid, bytes: stream.subarray(0, 20) }), /./);
			assert.match(await reason({ ...given, transferSyntaxUid, bytes: new Uint8Array(100) }), /does not begin/);
			assert.deepEqual(await shown({ ...given, transferSyntaxUid, bytes: stream }), await shown({ ...given, bytes: grey }), 'afterwards');
		});
	}

	for (const [title, transferSyntaxUid, name, encoder] of [
		['JPEG 2000', '1.2.840.10008.1.2.4.90', 'codec-openjpeg', 'J2KEncoder'],
		['HTJ2K', '1.2.840.10008.1.2.4.201', 'codec-openjph', 'HTJ2KEncoder'],
	] as const)
		test(`${title} has the sign of its codestream, or the one that Pixel Representation adds`, async () => {
			// The encoder of JPEG 2000 takes no smaller image.
			const square = { rows: 64, columns: 64 };
			const sized = { width: 64, height: 64, componentCount: 1, isUsingColorTransform: false };
			for (const stored of [12, 16]) {
				const half = 2 ** (stored - 1);
				const values = Array.from({ length: 64 * 64 }, (_, index) => ((index * 37) % (2 * half)) - half);
				const of = async (isSigned: boolean, bytes: Uint8Array) =>
					encodedImage(name, encoder, { ...sized, isSigned, bitsPerSample: stored }, bytes);
				const given = { ...square, bits: 16, stored, further: window(0, half) };
				const expected = await shown({ ...given, isSigned: true, bytes: words(...values) });
				const signed = await of(true, words(...values));
				for (const isSigned of [false, true])
					assert.deepEqual(await shown({ ...given, isSigned, transferSyntaxUid, bytes: signed }), expected, `${stored} ${isSigned}`);
				const hidden = await of(false, words(...values.map((value) => value & (2 * half - 1))));
				assert.deepEqual(await shown({ ...given, isSigned: true, transferSyntaxUid, bytes: hidden }), expected, `${stored}, hidden`);
			}
		});

	test('a stream that announces an immense image is refused by its head', async () => {
		const bytes = Buffer.from('ffd8ffc0000b08ffffffff0101110000', 'hex');
		assert.match(await reason({ ...shape, transferSyntaxUid: '1.2.840.10008.1.2.4.50', bytes }), /another size/);
	});

	test('JPEG of the service is decoded again', async () => {
		const task = taskOf({
			...shape,
			samples: 3,
			photometric: 'RGB',
			bytes: Uint8Array.from(colour, (_, index) => [200, 100, 50][index % 3] ?? 0),
			wish: { mediaType: 'image/jpeg' },
		});
		const result = await render(task);
		const bytes = result.kind === 'rendered' ? result.bytes : assert.fail(result.reason);
		const pixels = await shown({ ...shape, samples: 3, photometric: 'YBR_FULL', transferSyntaxUid: '1.2.840.10008.1.2.4.50', bytes });
		assert.ok(pixels.every((value, index) => Math.abs(value - ([200, 100, 50][index % 3] ?? 0)) <= 2));
	});

	test('RLE, whole and broken', async () => {
		const transferSyntaxUid = '1.2.840.10008.1.2.5';
		const head = Buffer.alloc(64);
		head.writeUInt32LE(1, 0);
		head.writeUInt32LE(64, 4);
		// Two bytes as they are, then two times 9.
		const stream = Buffer.concat([head, Buffer.from([1, 5, 6, 255, 9, 0])]);
		assert.deepEqual(await shown({ transferSyntaxUid, bytes: stream }), [5, 6, 9, 9]);
		assert.match(await reason({ transferSyntaxUid, bytes: stream.subarray(0, 67) }), /broken/);
		assert.match(await reason({ transferSyntaxUid, bits: 16, bytes: stream }), /broken/);
	});

	test('a deflated frame is inflated no further than its image', async () => {
		const transferSyntaxUid = '1.2.840.10008.1.2.8.1';
		assert.deepEqual(await shown({ transferSyntaxUid, bytes: deflateRawSync(Buffer.from([1, 2, 3, 4])) }), [1, 2, 3, 4]);
		assert.match(await reason({ transferSyntaxUid, bytes: deflateRawSync(Buffer.alloc(1_000_000)) }), /longer than its image/);
	});

	test('a syntax that is not decoded is refused', async () => {
		assert.equal(
			await reason({ transferSyntaxUid: '1.2.840.10008.1.2.4.110', bytes: new Uint8Array(8) }),
			'the transfer syntax of the image is not decoded',
		);
	});
});

describe('the size of a picture', () => {
	const size = async (given: Given) => {
		const result = await render(taskOf(given));
		const { width, height } = readPng(Buffer.from(result.kind === 'rendered' ? result.bytes : assert.fail(result.reason)));
		return [width, height];
	};
	const square = { rows: 4, columns: 4, bytes: new Uint8Array(16) };

	test('pixels that are not square are stretched until they are', async () => {
		assert.deepEqual(await size({ ...square, further: [element(0x0028_0034, 'IS', '2\\1')] }), [4, 8]);
		assert.deepEqual(await size({ ...square, further: [element(0x0028_0030, 'DS', '0.5\\1.5')] }), [12, 4]);
	});

	test('a viewport shows a region, flipped where its size is negative', async () => {
		const bytes = Uint8Array.from({ length: 16 }, (_, index) => index);
		const region = (width: number, height: number) => ({
			wish: { viewport: { width: 2, height: 2, region: { x: 1, y: 1, width, height } } },
		});
		assert.deepEqual(await shown({ ...square, bytes, ...region(2, 2) }), [5, 6, 9, 10]);
		assert.deepEqual(await shown({ ...square, bytes, ...region(-2, 2) }), [6, 5, 10, 9]);
		assert.match(await reason({ ...square, ...region(9, 1) }), /outside the image/);
	});
});
