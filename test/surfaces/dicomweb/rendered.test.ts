import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { addUser, resetPassword } from '#administration/users.ts';
import { ctStorage, element } from '#test/support/data-set.ts';
import { run, temporaryFolder } from '#test/support/dcmtk.ts';
import { without } from '#test/support/needs.ts';
import { readPng } from '#test/support/png.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { signedIn } from '#test/surfaces/admin/client.ts';
import { type DicomWebClient, dicomWebClient, file, partsOf } from './client.ts';

let service: TestService;
let client: DicomWebClient;
let stranger: DicomWebClient;

const png = { Accept: 'image/png' };
const at = (instance: string) => `/studies/7.1/series/7.1.1/instances/${instance}`;

function image(sopInstanceUid: string, more: readonly Buffer[]): Buffer {
	return Buffer.concat([
		element(0x0008_0016, 'UI', ctStorage),
		element(0x0008_0018, 'UI', sopInstanceUid),
		element(0x0020_000d, 'UI', '7.1'),
		element(0x0020_000e, 'UI', '7.1.1'),
		...more,
	]);
}

interface Pixels {
	rows: number;
	columns: number;
	bits?: number;
	samples?: number;
	photometric?: string;
	frames?: number;
	further?: readonly Buffer[];
	data: Buffer;
}

function pixelElements({
	rows,
	columns,
	bits = 8,
	samples = 1,
	photometric = 'MONOCHROME2',
	frames = 1,
	further = [],
	data,
}: Pixels): Buffer[] {
	return [
		element(0x0028_0002, 'US', samples),
		element(0x0028_0004, 'CS', photometric),
		...(samples === 1 ? [] : [element(0x0028_0006, 'US', 0)]),
		element(0x0028_0008, 'IS', String(frames)),
		element(0x0028_0010, 'US', rows),
		element(0x0028_0011, 'US', columns),
		element(0x0028_0100, 'US', bits),
		element(0x0028_0101, 'US', bits),
		element(0x0028_0102, 'US', bits - 1),
		element(0x0028_0103, 'US', 0),
		...further,
		element(0x7fe0_0010, bits > 8 ? 'OW' : 'OB', data),
	];
}

const ramp = Buffer.from(Array.from({ length: 64 }, (_, index) => index * 4));
const words = Buffer.from(Uint16Array.from({ length: 64 }, (_, index) => index * 16).buffer);
const windowed = [element(0x0028_1050, 'DS', '512'), element(0x0028_1051, 'DS', '512')];
const colours = Buffer.from(Array.from({ length: 48 }, (_, index) => [255, 128, 0][index % 3] ?? 0));

const images: Record<string, Buffer> = {
	'7.1.1.1': image('7.1.1.1', pixelElements({ rows: 8, columns: 8, data: ramp })),
	'7.1.1.2': image('7.1.1.2', pixelElements({ rows: 8, columns: 8, bits: 16, further: windowed, data: words })),
	'7.1.1.3': image('7.1.1.3', pixelElements({ rows: 4, columns: 4, samples: 3, photometric: 'RGB', data: colours })),
	'7.1.1.4': image('7.1.1.4', pixelElements({ rows: 4, columns: 4, frames: 4, data: ramp })),
	// An instance without an image, and one in a syntax that nobody decodes.
	'7.1.1.5': image('7.1.1.5', []),
};

before(async () => {
	service = await testService();
	client = dicomWebClient(service, (await service.addSite('west')).key);
	stranger = dicomWebClient(service, (await service.addSite('east')).key);
	const files = Object.entries(images).map(([sopInstanceUid, dataSet]) => file({ sopInstanceUid }, undefined, dataSet));
	const answer = await client.store(files);
	assert.equal(answer.status, 200, answer.bytes.toString());
});

after(() => service[Symbol.asyncDispose]());

describe('rendered resources (PS3.18 §10.4.1.1.3)', () => {
	test('an instance is JPEG where nothing else is asked for', async () => {
		const answer = await client.get(`${at('7.1.1.1')}/rendered`);
		assert.equal(answer.status, 200, answer.bytes.toString());
		assert.equal(answer.headers.get('content-type'), 'image/jpeg');
		assert.equal(answer.bytes.toString('hex', 0, 3), 'ffd8ff');
	});

	test('grey of 8 bits is shown as it is, and the picture is not sent to whoever has it', async () => {
		const answer = await client.get(`${at('7.1.1.1')}/rendered`, png);
		assert.equal(answer.status, 200, answer.bytes.toString());
		assert.deepEqual(readPng(answer.bytes), { width: 8, height: 8, samples: 1, bytes: ramp });
		const again = await client.get(`${at('7.1.1.1')}/rendered`, { ...png, 'If-None-Match': answer.headers.get('etag') ?? '' });
		assert.equal(again.status, 304);
		assert.equal(again.bytes.length, 0);
	});

	test('the window of the image is used, and the one that is asked for before it', async () => {
		const stated = readPng((await client.get(`${at('7.1.1.2')}/rendered`, png)).bytes).bytes;
		assert.deepEqual([stated[0], stated[16], stated[32], stated[48], stated[63]], [0, 0, 128, 255, 255]);
		const asked = readPng((await client.get(`${at('7.1.1.2')}/rendered?window=256,256,linear-exact`, png)).bytes).bytes;
		assert.deepEqual([asked[8], asked[16], asked[24]], [0, 128, 255]);
	});

	test('a colour image has its colours', async () => {
		const picture = readPng((await client.get(`${at('7.1.1.3')}/rendered`, png)).bytes);
		assert.deepEqual(picture, { width: 4, height: 4, samples: 3, bytes: colours });
	});

	test('frames are asked for by number, one as a file and several as parts', async () => {
		const second = await client.get(`${at('7.1.1.4')}/frames/2/rendered`, png);
		assert.deepEqual(readPng(second.bytes).bytes, ramp.subarray(16, 32));
		const two = await client.get(`${at('7.1.1.4')}/frames/4,1/rendered`, { Accept: 'multipart/related; type="image/png"' });
		assert.deepEqual(
			partsOf(two).map(({ bytes }) => readPng(bytes).bytes),
			[ramp.subarray(48), ramp.subarray(0, 16)],
		);
		const whole = await client.get(`${at('7.1.1.4')}/rendered`, png);
		assert.equal(whole.status, 406, 'a file has one frame');
		assert.equal((await client.get(`${at('7.1.1.4')}/frames/5/rendered`, png)).status, 404);
	});

	test('a series is answered in parts, without what has no image', async () => {
		const answer = await client.get('/studies/7.1/series/7.1.1/rendered', { Accept: 'multipart/related; type="image/png"' });
		assert.equal(answer.status, 200, answer.bytes.toString());
		assert.equal(partsOf(answer).length, 7);
	});

	test('a thumbnail fits into its viewport and keeps the proportions', async () => {
		const small = readPng((await client.get('/studies/7.1/thumbnail?viewport=4,6', png)).bytes);
		assert.deepEqual([small.width, small.height], [4, 4]);
		const default_ = readPng((await client.get(`${at('7.1.1.3')}/thumbnail`, png)).bytes);
		assert.deepEqual([default_.width, default_.height], [128, 128]);
	});

	test('what is not there is refused with its reason', async () => {
		const refused = async (path: string, headers: Record<string, string> = png) => {
			const { status, bytes } = await client.get(path, headers);
			return [status, JSON.parse(bytes.toString()).error];
		};
		assert.deepEqual(await refused(`${at('7.1.1.5')}/rendered`), [406, 'the instance has no image']);
		assert.deepEqual(await refused(`${at('7.1.1.1')}/rendered`, { Accept: 'image/gif' }), [
			406,
			'a picture is answered as image/jpeg or image/png',
		]);
		assert.equal((await refused(`${at('7.1.1.1')}/rendered?window=1`))[0], 400);
		assert.equal((await refused(`${at('7.1.1.1')}/rendered?annotation=patient`))[0], 400);
		assert.equal((await refused(`${at('9.9')}/rendered`))[0], 404);
	});

	test('JPEG of 12 bits is refused with its reason, and is served as it was received', { skip: without('dcmtk') }, async () => {
		using folder = temporaryFolder();
		const [plain, compressed] = [join(folder.path, 'plain.dcm'), join(folder.path, 'compressed.dcm')];
		const elements = image('7.1.1.6', pixelElements({ rows: 8, columns: 8, bits: 16, data: words }));
		writeFileSync(plain, file({ sopInstanceUid: '7.1.1.6' }, undefined, elements));
		const made = await run('dcmcjpeg', '+ee', '+bt', '+un', plain, compressed);
		assert.equal(made.code, 0, made.output);
		const bytes = readFileSync(compressed);
		assert.ok(bytes.includes('1.2.840.10008.1.2.4.51'));
		assert.equal((await client.store([bytes])).status, 200);
		for (const picture of ['rendered', 'thumbnail', 'frames/1/rendered']) {
			const answer = await client.get(`${at('7.1.1.6')}/${picture}`, png);
			assert.deepEqual(
				[answer.status, JSON.parse(answer.bytes.toString()).error],
				[406, 'JPEG with loss and 12 bits a sample is not decoded'],
				picture,
			);
		}
		const frame = await client.get(`${at('7.1.1.6')}/frames/1`, { Accept: 'multipart/related; type="image/jpeg"; transfer-syntax=*' });
		assert.equal(frame.status, 200, frame.bytes.toString());
		const [part] = partsOf(frame);
		assert.deepEqual([part?.bytes.toString('hex', 0, 2), bytes.includes(part?.bytes.subarray(0, 64) ?? '')], ['ffd8', true]);
	});

	test('another site sees no picture', async () => {
		assert.equal((await stranger.get(`${at('7.1.1.1')}/rendered`, png)).status, 404);
	});
});

describe('pictures in the admin API', () => {
	test('an auditor of the site sees them, nobody else, and the look is recorded once', async () => {
		const { administration } = service;
		const password = async (email: string) => (await resetPassword(administration, email)).password;
		await addUser(administration, { email: 'west@example.org', role: 'auditor', sites: ['west'] });
		await addUser(administration, { email: 'east@example.org', role: 'auditor', sites: ['east'] });
		const west = await signedIn(service, 'west@example.org', await password('west@example.org'));
		const east = await signedIn(service, 'east@example.org', await password('east@example.org'));
		const path = '/api/v1/sites/west/studies/7.1/series/7.1.1/instances/7.1.1.1';
		for (const picture of [
			`${path}/rendered?accept=image/png`,
			`${path}/frames/1/rendered`,
			`${path}/thumbnail`,
			'/api/v1/sites/west/studies/7.1/thumbnail',
		]) {
			const shown = await west.call(picture);
			assert.equal(shown.status, 200, picture);
			assert.match(shown.headers.get('content-type') ?? '', /^image\//);
		}
		assert.equal((await east.call(`${path}/rendered`)).status, 403);
		const events = await service.rows("select actor, subject, studies from audit_event where action = 'study.picture'");
		assert.deepEqual(events, [{ actor: 'west@example.org', subject: '7.1', studies: ['7.1'] }]);
	});
});
