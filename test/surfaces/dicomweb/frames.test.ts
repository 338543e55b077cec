import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { element, encapsulated } from '#test/support/data-set.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { type DicomWebClient, dicomWebClient, file } from './client.ts';

const jpegLossless = '1.2.840.10008.1.2.4.70';

let service: TestService;
let client: DicomWebClient;
let stored = 0;

before(async () => {
	service = await testService();
	client = dicomWebClient(service, (await service.addSite('west')).key);
});

after(() => service[Symbol.asyncDispose]());

interface Image {
	frames: number;
	/** Rows and columns. */
	size?: [number, number];
	bits?: number;
	samples?: number;
	photometric?: string;
	syntax?: string;
	pixelData: Buffer;
}

/** Stores an image, and asks for its frames one by one. */
async function framesOf(image: Image, suffix = ''): Promise<(Buffer | string)[]> {
	const { frames, size = [2, 2], bits = 16, samples = 1, photometric = 'MONOCHROME2', syntax, pixelData } = image;
	const sopInstanceUid = `8.1.1.${++stored}`;
	const dataSet = Buffer.concat([
		element(0x0008_0016, 'UI', '1.2.840.10008.5.1.4.1.1.7'),
		element(0x0008_0018, 'UI', sopInstanceUid),
		element(0x0020_000d, 'UI', '8.1'),
		element(0x0020_000e, 'UI', '8.1.1'),
		element(0x0028_0002, 'US', samples),
		element(0x0028_0004, 'CS', photometric),
		element(0x0028_0008, 'IS', String(frames)),
		element(0x0028_0010, 'US', size[0]),
		element(0x0028_0011, 'US', size[1]),
		element(0x0028_0100, 'US', bits),
		element(0x0028_0101, 'US', bits),
		element(0x0028_0102, 'US', bits - 1),
		element(0x0028_0103, 'US', 0),
		pixelData,
	]);
	const answer = await client.store([file({ sopInstanceUid }, syntax, dataSet)]);
	assert.equal(answer.status, 200, answer.bytes.toString());
	const path = `/studies/8.1/series/8.1.1/instances/${sopInstanceUid}/frames`;
	const answers: (Buffer | string)[] = [];
	for (let frame = 1; frame <= frames; frame++) {
		const { status, bytes, json } = await client.get(`${path}/${frame}${suffix}`, suffix ? {} : { Accept: 'application/octet-stream' });
		answers.push(status === 200 ? bytes : `${status} ${json().error}`);
	}
	return answers;
}

const bytesTo = (length: number) => Buffer.from(Array.from({ length }, (_, index) => index));
const native = (length: number) => element(0x7fe0_0010, 'OW', bytesTo(length));
const shorter = /^406 the pixel data is shorter than Rows, Columns and Bits Allocated say/;

describe('native frames', () => {
	test('that are not there in full are refused, and whole ones before them are served', async () => {
		for (const suffix of ['', '/rendered']) {
			const [first, second] = await framesOf({ frames: 2, pixelData: native(12) }, suffix);
			assert.ok(first instanceof Buffer, String(first));
			if (suffix === '') assert.deepEqual(first, bytesTo(8));
			assert.match(String(second), shorter);
		}
		const [only] = await framesOf({ frames: 1, pixelData: native(6) });
		assert.match(String(only), shorter);
	});

	test('of subsampled pixels are shorter than their samples', async () => {
		const image = { frames: 2, size: [2, 4], bits: 8, samples: 3, photometric: 'YBR_FULL_422' } as const;
		const whole = await framesOf({ ...image, size: [2, 4], pixelData: native(32) });
		assert.deepEqual(whole, [bytesTo(32).subarray(0, 16), bytesTo(32).subarray(16)]);
		const [first, second] = await framesOf({ ...image, size: [2, 4], pixelData: native(24) });
		assert.deepEqual(first, bytesTo(16));
		assert.match(String(second), shorter);
	});

	test('of single bits are bytes, or cannot be told apart', async () => {
		assert.deepEqual(await framesOf({ frames: 2, size: [2, 4], bits: 1, pixelData: native(2) }), [Buffer.from([0]), Buffer.from([1])]);
		assert.deepEqual(await framesOf({ frames: 1, size: [3, 3], bits: 1, pixelData: native(2) }), [bytesTo(2)]);
		const [first] = await framesOf({ frames: 2, size: [3, 3], bits: 1, pixelData: native(4) });
		assert.match(String(first), /^406 the frames of the instance cannot be told apart/);
	});
});

describe('a basic offset table', () => {
	const [first, second, third] = [30, 20, 40].map((length, index) => Buffer.alloc(length, index + 1)) as [Buffer, Buffer, Buffer];
	const compressed = (table: number[], ...fragments: Buffer[]) =>
		framesOf({ frames: 2, syntax: jpegLossless, pixelData: encapsulated(table, fragments) });

	test('that is right tells which fragments belong to a frame', async () => {
		assert.deepEqual(await compressed([0, 38], first, second), [first, second]);
		assert.deepEqual(await compressed([0, 66], first, second, third), [Buffer.concat([first, second]), third]);
	});

	test('that is wrong is ignored', async () => {
		for (const table of [
			[8, 46],
			[0, 0],
			[38, 0],
			[0, 10],
			[0, 40],
			[0, 66],
			[0, 9_000_000],
		])
			assert.deepEqual(await compressed(table, first, second), [first, second], String(table));
		for (const frame of await compressed([0, 10], first, second, third)) assert.match(String(frame), /^406 /);
	});
});
