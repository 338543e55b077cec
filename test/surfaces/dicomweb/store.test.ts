import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createKey } from '#administration/keys.ts';
import { readFileMeta } from '#dicom/part10.ts';
import { sampleDataSet } from '#test/support/data-set.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { boundary, type DicomWebClient, dicomWebClient, file, multipartBody, multipartType } from './client.ts';

let service: TestService;
let client: DicomWebClient;
let key: string;
let siteId: string;

before(async () => {
	service = await testService({ SEGMENTED_OBJECT_BYTES_MAX: '500000', STOW_INSTANCES_MAX: '20', DIMSE_OBJECT_BYTES_MAX: '2000000' });
	const added = await service.addSite('west');
	key = added.key;
	siteId = added.site.id;
	client = dicomWebClient(service, key);
});

after(() => service[Symbol.asyncDispose]());

const indexed = (studyUid: string) =>
	service.rows<{ sop_instance_uid: string; source: string }>(
		'select sop_instance_uid, source from imaging_instance where site_id = $1 and study_uid = $2 order by 1',
		[siteId, studyUid],
	);
const objects = () =>
	readdirSync(join(service.dataDir, 'objects'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

describe('STOW-RS', () => {
	test('stores every part and says where it can be had', async () => {
		const studyUid = '1.10';
		const parts = ['1.10.1', '1.10.2', '1.10.3'].map((sopInstanceUid) => file({ studyUid, seriesUid: '1.10.0', sopInstanceUid }));
		const answer = await client.store(parts);
		assert.equal(answer.status, 200, answer.bytes.toString());
		assert.equal(answer.headers.get('content-type'), 'application/dicom+json');
		const base = `http://127.0.0.1:${service.port('fhir')}/dicomweb`;
		const json = answer.json();
		assert.deepEqual(json['00081190'], { vr: 'UR', Value: [`${base}/studies/1.10`] });
		assert.deepEqual(
			json['00081199'].Value.map((item: never) => [item['00081155']['Value'][0], item['00081190']['Value'][0]]),
			['1.10.1', '1.10.2', '1.10.3'].map((uid) => [uid, `${base}/studies/1.10/series/1.10.0/instances/${uid}`]),
		);
		assert.equal(json['00081198'], undefined);
		const rows = await indexed(studyUid);
		assert.deepEqual(
			rows.map((row) => row.sop_instance_uid),
			['1.10.1', '1.10.2', '1.10.3'],
		);
		// The key's public id.
		assert.ok(rows.every(({ source }) => key.includes(source)));
		assert.equal((await client.store(parts)).status, 200);
		assert.equal((await indexed(studyUid)).length, 3);
	});

	test('a single file needs no multipart', async () => {
		const answer = await client.post('/studies/1.11', file({ studyUid: '1.11', sopInstanceUid: '1.11.1' }), {
			'Content-Type': 'application/dicom',
		});
		assert.equal(answer.status, 200, answer.bytes.toString());
		assert.equal((await indexed('1.11')).length, 1);
	});

	test('refuses parts one by one: 202 where others are stored, 409 where none is', async () => {
		const good = file({ studyUid: '1.12', seriesUid: '1.12.0', sopInstanceUid: '1.12.1' });
		const elsewhere = file({ studyUid: '1.99', seriesUid: '1.12.0', sopInstanceUid: '1.12.2' });
		const noFile = Buffer.from('this is no DICOM file, whatever the part says of itself '.repeat(10));
		const some = await client.store([elsewhere, good, noFile], '/1.12');
		assert.equal(some.status, 202);
		const json = some.json();
		assert.equal(json['00081199'].Value.length, 1);
		assert.deepEqual(json['00081198'].Value, [
			{
				'00081150': { vr: 'UI', Value: ['1.2.840.10008.5.1.4.1.1.2'] },
				'00081155': { vr: 'UI', Value: ['1.12.2'] },
				'00081197': { vr: 'US', Value: [0xa900] },
			},
		]);
		assert.deepEqual(json['0008119A'].Value, [{ '00081197': { vr: 'US', Value: [0xc000] } }]);
		assert.equal((await indexed('1.99')).length, 0);
		const none = await client.store([elsewhere], '/1.12');
		assert.equal(none.status, 409);
		const other = await client.post('/studies', multipartBody([good], 'image/jpeg'), { 'Content-Type': multipartType });
		assert.equal(other.status, 409);
		const tooLong = await client.store([file({ studyUid: '1.12', sopInstanceUid: '1.12.3', pixels: Buffer.alloc(2_000_000) })]);
		assert.deepEqual([tooLong.status, tooLong.json()['00081198'].Value[0]['00081197'].Value], [409, [0xa700]]);
		assert.equal((await indexed('1.12')).length, 1);
	});

	test('refuses a part that is cut off within its pixel data', async () => {
		const whole = file({ studyUid: '1.17', seriesUid: '1.17.0', sopInstanceUid: '1.17.1' });
		for (const missing of [1, 30, 64 + 4]) {
			const answer = await client.store([whole.subarray(0, -missing)]);
			assert.deepEqual([answer.status, answer.json()['00081198'].Value[0]['00081197'].Value], [409, [0xc000]]);
		}
		assert.equal((await indexed('1.17')).length, 0);
	});

	test('other content under a known UID is kept aside, with a warning', async () => {
		const of = (pixels: Buffer) => file({ studyUid: '1.13', seriesUid: '1.13.0', sopInstanceUid: '1.13.1', pixels });
		assert.equal((await client.store([of(Buffer.alloc(64))])).status, 200);
		const again = await client.store([of(Buffer.alloc(64, 1))]);
		assert.equal(again.status, 202);
		assert.deepEqual(again.json()['00081199'].Value[0]['00081196'], { vr: 'US', Value: [0xb000] });
		assert.deepEqual(again.json()['00081199'].Value[0]['00081190'], { vr: 'UR' }, 'what is kept aside is at no URL');
		assert.deepEqual(again.json()['00081190'], { vr: 'UR' });
	});

	test('what the data set says counts, not the file meta information', async () => {
		const dataSet = sampleDataSet({ studyUid: '1.14', seriesUid: '1.14.0', sopInstanceUid: '1.14.1' });
		const answer = await client.store([file({ sopInstanceUid: '9.9.9' }, undefined, dataSet)]);
		assert.equal(answer.status, 200);
		assert.deepEqual(
			(await indexed('1.14')).map((row) => row.sop_instance_uid),
			['1.14.1'],
		);
	});

	test('a boundary longer than RFC 2046 allows is taken, up to 200 characters', async () => {
		const long = 'b'.repeat(200);
		const post = (name: string) => {
			const body = `--${name}\r\nContent-Type: application/dicom\r\n\r\n`;
			const part = file({ studyUid: '1.19', sopInstanceUid: '1.19.1' });
			const whole = Buffer.concat([Buffer.from(body), part, Buffer.from(`\r\n--${name}--\r\n`)]);
			return client.post('/studies', whole, { 'Content-Type': `multipart/related; type="application/dicom"; boundary=${name}` });
		};
		assert.equal((await post(long)).status, 200);
		const refused = await post(`${long}b`);
		assert.deepEqual([refused.status, refused.json().error], [400, 'the boundary in Content-Type is longer than 200 characters']);
	});

	test('UIDs with leading zeros are refused, or taken as they are sent if the sender is set to lenient', async () => {
		const part = file({ studyUid: '1.020', seriesUid: '1.020.1', sopInstanceUid: '1.020.1.007' });
		assert.equal((await client.store([part])).status, 409);
		const settings = { site: 'west', owner: 'owner@example.org', label: '', uids: 'lenient' } as const;
		const device = dicomWebClient(service, (await createKey(service.administration, settings)).key);
		assert.equal((await device.store([part])).status, 200);
		const [study] = (await client.get('/studies?StudyInstanceUID=1.020')).json();
		assert.deepEqual(study['0020000D'].Value, ['1.020']);
		const plain = await client.get('/studies/1.020/series/1.020.1/instances/1.020.1.007', { Accept: 'application/dicom' });
		assert.deepEqual([plain.status, readFileMeta(plain.bytes).sopInstanceUid], [200, '1.020.1.007']);
	});

	test('a body that is no store request is refused as a whole', async () => {
		const good = file({ studyUid: '1.15', sopInstanceUid: '1.15.1' });
		const whole = multipartBody([good]);
		const post = async (body: Uint8Array, headers: Record<string, string>, path = '/studies') => {
			const answer = await client.post(path, body, headers);
			const { success, error } = answer.json();
			assert.equal(success, false);
			assert.equal(typeof error, 'string');
			return answer.status;
		};
		const type = { 'Content-Type': multipartType };
		assert.equal(await post(whole, { 'Content-Type': 'application/json' }), 415);
		assert.equal(await post(whole, { 'Content-Type': `multipart/related; type="application/dicom+json"; boundary=${boundary}` }), 415);
		assert.equal(await post(whole, { ...type, 'Content-Encoding': 'gzip' }), 415);
		assert.equal(await post(whole, { 'Content-Type': 'multipart/related; type="application/dicom"' }), 400);
		assert.equal(await post(whole, { 'Content-Type': `${multipartType}x` }), 400);
		assert.equal(await post(whole, { ...type, Accept: 'application/dicom+xml' }), 406);
		assert.equal(await post(whole, type, '/studies/1.a'), 400);
		assert.equal(await post(Buffer.from(`--${boundary}--`), type), 400);
		assert.equal(await post(Buffer.from('no boundary at all'), type), 400);
		assert.equal(await post(whole.subarray(0, whole.length - boundary.length - 6), type), 400);
		assert.equal(await post(Buffer.concat([Buffer.from(`--${boundary} x\r\n`), whole]), type), 400);
		assert.equal((await indexed('1.15')).length, 0);
		assert.equal(await post(whole, { ...type, 'X-API-Key': 'wrong' }), 401);
		const many = Array.from({ length: 21 }, (_, index) => file({ studyUid: '1.16', sopInstanceUid: `1.16.${index}` }));
		assert.equal(await post(multipartBody(many), type), 413);
		assert.equal((await indexed('1.16')).length, 20);
	});

	test('a sender that breaks off leaves no file', async () => {
		const before = objects().length;
		const socket = connect(service.port('fhir'), '127.0.0.1');
		const body = multipartBody([file({ studyUid: '1.17', sopInstanceUid: '1.17.1', pixels: Buffer.alloc(1_000_000) })]);
		socket.write(
			`POST /dicomweb/studies HTTP/1.1\r\nHost: h\r\nX-API-Key: ${key}\r\nContent-Type: ${multipartType}\r\nContent-Length: ${body.length}\r\n\r\n`,
		);
		socket.write(body.subarray(0, 900_000));
		await eventually(() => objects().length === before + 1, 'the file of the part that arrives');
		socket.destroy();
		await eventually(() => objects().length === before, 'the end of the file');
		assert.equal((await indexed('1.17')).length, 0);
		const exposed = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		assert.match(exposed, /^tributary_dicomweb_instances_total\{operation="store",outcome="abandoned"\} [1-9]/m);
		assert.match(exposed, /^tributary_dicomweb_instances_total\{operation="store",outcome="success"\} [1-9]/m);
	});

	test('takes a body in pieces of any size, in chunked coding', async () => {
		const body = multipartBody([
			file({ studyUid: '1.18', sopInstanceUid: '1.18.1' }),
			file({ studyUid: '1.18', sopInstanceUid: '1.18.2' }),
		]);
		for (const size of [7, 1000]) {
			let at = 0;
			const stream = new ReadableStream({
				pull(controller) {
					controller.enqueue(new Uint8Array(body.subarray(at, at + size)));
					at += size;
					if (at >= body.length) controller.close();
				},
			});
			const answer = await client.post('/studies', stream, { 'Content-Type': multipartType });
			assert.equal(answer.status, 200, answer.bytes.toString());
			assert.equal((await indexed('1.18')).length, 2);
		}
	});
});
