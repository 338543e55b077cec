import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { DataSetConverter } from '#dicom/data-set-converter.ts';
import { readFileMeta } from '#dicom/part10.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import { newObjectKey } from '#storage/objects/object-key.ts';
import { read } from '#test/storage/objects/support.ts';
import { element, encapsulated, sampleDataSet, sequence } from '#test/support/data-set.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { type DicomWebClient, dicomWebClient, file, partsOf } from './client.ts';

const jpegLossless = '1.2.840.10008.1.2.4.70';
const explicit = '1.2.840.10008.1.2.1';
const bigEndian = '1.2.840.10008.1.2.2';
const deflated = '1.2.840.10008.1.2.1.99';

let service: TestService;
let client: DicomWebClient;
let stranger: DicomWebClient;

const pixels = Buffer.from(Array.from({ length: 6000 }, (_, index) => index % 251));
const dataSetOf = (bytes: Buffer) => bytes.subarray(readFileMeta(bytes).dataSetOffset);
const study = '/studies/2.1';
const at = (series: string, instance: string) => `${study}/series/${series}/instances/${instance}`;

const identity = (seriesUid: string, sopInstanceUid: string, studyUid = '2.1') => [
	element(0x0008_0016, 'UI', '1.2.840.10008.5.1.4.1.1.7'),
	element(0x0008_0018, 'UI', sopInstanceUid),
	element(0x0020_000d, 'UI', studyUid),
	element(0x0020_000e, 'UI', seriesUid),
];
const image = (frames: number, [rows, columns]: [number, number]) => [
	element(0x0028_0002, 'US', 1),
	element(0x0028_0008, 'IS', String(frames)),
	element(0x0028_0010, 'US', rows),
	element(0x0028_0011, 'US', columns),
	element(0x0028_0100, 'US', 16),
];

const native = Buffer.concat([
	...identity('2.1.2', '2.1.2.1').slice(0, 2),
	sequence(0x0008_1140, [
		element(0x0008_1155, 'UI', '9.9'),
		Buffer.concat([element(0x0008_1155, 'UI', '9.8'), element(0x0009_1001, 'OB', pixels.subarray(0, 2000))]),
	]),
	...identity('2.1.2', '2.1.2.1').slice(2),
	...image(3, [50, 20]),
	element(0x7fe0_0010, 'OW', pixels),
]);
const fragments = [100, 40, 60].map((length, index) => Buffer.alloc(length, index + 1));
/** Two JPEG streams in three fragments: the second stream begins with the third one. */
const streams = fragments.map((fragment, index) => Buffer.concat([Buffer.from(index === 1 ? 'ff00ff00' : 'ffd8ffc3', 'hex'), fragment]));
const compressed = (instance: string, frames: number, table: number[], items = fragments) =>
	Buffer.concat([...identity(instance.slice(0, 5), instance), ...image(frames, [8, 8]), encapsulated(table, items)]);
const sample = (seriesUid: string, sopInstanceUid: string) => sampleDataSet({ studyUid: '2.1', seriesUid, sopInstanceUid, pixels });
const big = sampleDataSet({
	studyUid: '2.1',
	seriesUid: '2.1.1',
	sopInstanceUid: '2.1.1.2',
	writing: { explicit: true, littleEndian: false },
	pixels,
});
const sent: Record<string, [dataSet: Buffer, transferSyntax: string | undefined]> = {
	'2.1.1.1': [sample('2.1.1', '2.1.1.1'), undefined],
	'2.1.1.2': [big, bigEndian],
	'2.1.1.3': [deflateRawSync(sample('2.1.1', '2.1.1.3')), deflated],
	'2.1.2.1': [native, undefined],
	'2.1.3.1': [compressed('2.1.3.1', 3, []), jpegLossless],
	'2.1.3.2': [compressed('2.1.3.2', 2, [0, 108]), jpegLossless],
	'2.1.3.3': [compressed('2.1.3.3', 2, []), jpegLossless],
	'2.1.3.4': [compressed('2.1.3.4', 1, []), jpegLossless],
	'2.1.3.5': [compressed('2.1.3.5', 2, [], streams), jpegLossless],
	'2.1.3.6': [compressed('2.1.3.6', 3, [4], streams.slice(1)), jpegLossless],
	'2.1.4.1': [
		Buffer.concat([...identity('2.1.4', '2.1.4.1'), ...image(2, [50, 20]), element(0x7fe0_0010, 'OW', Buffer.alloc(100), undefined, 4000)]),
		undefined,
	],
	'2.1.4.2': [compressed('2.1.4.2', 2, [0, 9_000_000]), jpegLossless],
	'2.1.4.3': [compressed('2.1.4.3', 2, [108, 0]), jpegLossless],
	'2.1.4.4': [compressed('2.1.4.4', 3, []).subarray(0, -100), jpegLossless],
	'2.1.4.5': [
		Buffer.concat([
			...identity('2.1.4', '2.1.4.5'),
			element(0x0028_0010, 'US', 5),
			element(0x0028_0011, 'US', 5),
			sequence(0x0040_0275, [pixels]).subarray(0, 500),
		]),
		undefined,
	],
};

/** Instances that are cut off are refused today. */
const wholeBefore: Record<string, Buffer> = {
	'2.1.4.1': Buffer.concat([...identity('2.1.4', '2.1.4.1'), ...image(2, [50, 20]), element(0x7fe0_0010, 'OW', Buffer.alloc(4000))]),
	'2.1.4.4': compressed('2.1.4.4', 3, []),
	'2.1.4.5': Buffer.concat([...identity('2.1.4', '2.1.4.5'), element(0x0028_0010, 'US', 5), element(0x0028_0011, 'US', 5)]),
};

before(async () => {
	service = await testService();
	const { key } = await service.addSite('west');
	client = dicomWebClient(service, key);
	stranger = dicomWebClient(service, (await service.addSite('east')).key);
	const files = Object.entries(sent).map(([sopInstanceUid, [dataSet, syntax]]) =>
		file({ sopInstanceUid }, syntax, wholeBefore[sopInstanceUid] ?? dataSet),
	);
	const answer = await client.store(files);
	assert.equal(answer.status, 200, answer.bytes.toString());
	await Promise.all(Object.keys(wholeBefore).map(cutOff));
});

/** Makes of a stored instance what earlier versions stored of one that was cut off. */
async function cutOff(sopInstanceUid: string): Promise<void> {
	const [row] = await service.rows<{ object_key: string }>('select object_key from imaging_instance where sop_instance_uid = $1', [
		sopInstanceUid,
	]);
	const store = new FileStore(join(service.dataDir, 'objects'));
	const stored = await read(store, String(row?.object_key));
	const bytes = Buffer.concat([stored.subarray(0, readFileMeta(stored).dataSetOffset), sent[sopInstanceUid]?.[0] ?? assert.fail()]);
	const [siteId = ''] = row?.object_key.split('/') ?? [];
	const key = newObjectKey({ siteId, studyUid: '2.1', seriesUid: '2.1.4', sopInstanceUid });
	await store.put(key, bytes);
	await service.rows('update imaging_instance set bytes = $2, object_key = $3 where sop_instance_uid = $1', [
		sopInstanceUid,
		bytes.length,
		key,
	]);
}

after(() => service[Symbol.asyncDispose]());

describe('WADO-RS', () => {
	test('a study and a series come as parts, each data set byte for byte in its transfer syntax', async () => {
		for (const [path, prefix] of [
			[study, '2.1.'],
			[`${study}/series/2.1.1`, '2.1.1.'],
		] as const) {
			const answer = await client.get(path, { Accept: 'multipart/related; type="application/dicom"; transfer-syntax=*' });
			assert.equal(answer.status, 200, answer.bytes.toString());
			const parts = partsOf(answer);
			const expected = Object.entries(sent).filter(([uid]) => uid.startsWith(prefix));
			assert.equal(parts.length, expected.length);
			for (const [index, [uid, [dataSet, syntax]]] of expected.entries()) {
				const { headers, bytes } = parts[index] as (typeof parts)[0];
				assert.equal(readFileMeta(bytes).sopInstanceUid, uid);
				assert.ok(dataSetOf(bytes).equals(dataSet), uid);
				assert.equal(headers['Content-Type'], `application/dicom; transfer-syntax=${syntax ?? '1.2.840.10008.1.2.1'}`);
				assert.match(headers['Content-Location'] ?? '', new RegExp(`/dicomweb/studies/2\\.1/series/[\\d.]+/instances/${uid}$`));
			}
		}
	});

	test('an instance comes as the one part, or as a plain body', async () => {
		const path = at('2.1.1', '2.1.1.1');
		const [part] = partsOf(await client.get(path));
		const plain = await client.get(path, { Accept: 'application/dicom' });
		assert.deepEqual([plain.status, plain.headers.get('content-type')], [200, 'application/dicom']);
		assert.ok(part && plain.bytes.equals(part.bytes));
		assert.ok(dataSetOf(plain.bytes).equals(sent['2.1.1.1']?.[0] as Buffer));
		const byParameter = await client.get(`${path}?accept=application/dicom`);
		assert.equal(byParameter.headers.get('content-type'), 'application/dicom');
		const key = await fetch(`http://127.0.0.1:${service.port('fhir')}/dicomweb${path}`, { method: 'HEAD' });
		assert.equal(key.status, 401);
	});

	test('what is stored uncompressed comes in Explicit VR Little Endian, or another one of these, if that is asked for', async () => {
		const as = (syntax: string) => ({ Accept: `application/dicom; transfer-syntax=${syntax}` });
		const plain = await client.get(at('2.1.1', '2.1.1.2'), as(explicit));
		assert.equal(plain.status, 200, plain.bytes.toString());
		const meta = readFileMeta(plain.bytes);
		assert.deepEqual([meta.transferSyntaxUid, meta.sopInstanceUid], [explicit, '2.1.1.2']);
		assert.ok(plain.bytes.subarray(meta.dataSetOffset).equals(Buffer.concat(new DataSetConverter(bigEndian, explicit).feed(big))));
		const inflated = await client.get(at('2.1.1', '2.1.1.3'), as(explicit));
		assert.ok(inflated.bytes.subarray(readFileMeta(inflated.bytes).dataSetOffset).equals(sample('2.1.1', '2.1.1.3')));
		assert.equal(
			readFileMeta((await client.get(at('2.1.1', '2.1.1.1'), as('1.2.840.10008.1.2'))).bytes).transferSyntaxUid,
			'1.2.840.10008.1.2',
		);
		const series = await client.get(`${study}/series/2.1.1`, {
			Accept: `multipart/related; type="application/dicom"; transfer-syntax=${explicit}`,
		});
		const types = partsOf(series).map(({ headers }) => headers['Content-Type']);
		assert.deepEqual(types, Array(3).fill(`application/dicom; transfer-syntax=${explicit}`));
		const broken = await client.get(at('2.1.4', '2.1.4.5'), as('1.2.840.10008.1.2'));
		assert.deepEqual([broken.status, broken.json().error.includes('cannot be converted')], [406, true]);
		const bulk = { Accept: `multipart/related; type="application/octet-stream"; transfer-syntax=${explicit}` };
		const turned = Buffer.from(pixels).swap16();
		const [value] = partsOf(await client.get(`${at('2.1.1', '2.1.1.2')}/bulkdata/7FE00010`, bulk));
		assert.equal(value?.headers['Content-Type'], `application/octet-stream; transfer-syntax=${explicit}`);
		assert.ok(value?.bytes.equals(turned));
	});

	test('octets are in little endian for who names no transfer syntax', async () => {
		const little = Buffer.concat([...identity('2.2.1', '2.2.1.1', '2.2'), ...image(2, [50, 20]), element(0x7fe0_0010, 'OW', pixels)]);
		const dataSet = Buffer.concat(new DataSetConverter(explicit, bigEndian).feed(little));
		assert.equal((await client.store([file({ sopInstanceUid: '2.2.1.1' }, bigEndian, dataSet)])).status, 200);
		const types = [explicit, bigEndian].map((syntax) => `application/octet-stream; transfer-syntax=${syntax}`);
		for (const [of, value] of [
			['bulkdata/7FE00010', pixels],
			['frames/2', pixels.subarray(2000, 4000)],
		] as const) {
			const path = `/studies/2.2/series/2.2.1/instances/2.2.1.1/${of}`;
			const got = async (syntax = '') => {
				const answer = await client.get(path, { Accept: `multipart/related; type="application/octet-stream"${syntax}` });
				assert.equal(answer.status, 200, answer.bytes.toString());
				return partsOf(answer)[0] ?? assert.fail(of);
			};
			const [plain, stored] = [await got(), await got('; transfer-syntax=*')];
			assert.deepEqual([plain.headers['Content-Type'], stored.headers['Content-Type']], types, of);
			assert.ok(plain.bytes.equals(value) && stored.bytes.equals(Buffer.from(value).swap16()), of);
			const single = await client.get(path, { Accept: 'application/octet-stream' });
			assert.ok(single.bytes.equals(value), of);
		}
	});

	test('compressed pixels are not transcoded: another transfer syntax, and another media type, is 406', async () => {
		const path = at('2.1.3', '2.1.3.1');
		const accept = (Accept: string) => client.get(path, { Accept }).then(({ status }) => status);
		assert.equal(await accept(`multipart/related; type="application/dicom"; transfer-syntax=${jpegLossless}`), 200);
		assert.equal(await accept('multipart/related; type="application/dicom"; transfer-syntax=1.2.840.10008.1.2.1'), 406);
		assert.equal(
			await accept('multipart/related; type="application/dicom"; transfer-syntax=1.2.840.10008.1.2.1, application/dicom; q=0.1'),
			200,
		);
		assert.equal(await accept('multipart/related; type="application/dicom+xml"'), 406);
		assert.equal(await accept('image/jpeg'), 406);
		assert.equal((await client.get(study, { Accept: 'application/dicom' })).status, 406);
		assert.equal((await client.get(`${path}/metadata`, { Accept: 'application/dicom+xml' })).status, 406);
	});

	test('what another site has, and what never was, is 404 alike', async () => {
		const paths = [study, `${study}/metadata`, at('2.1.1', '2.1.1.1'), `${at('2.1.2', '2.1.2.1')}/frames/1`];
		for (const path of paths) {
			const [theirs, never] = [await stranger.get(path), await client.get(path.replace('2.1', '2.9'))];
			assert.equal(theirs.status, 404);
			assert.deepEqual(theirs.json(), never.json());
			assert.equal(theirs.json().success, false);
			assert.equal((await dicomWebClient(service, 'wrong').get(path)).status, 401);
		}
		for (const path of [at('2.1.2', '2.1.1.1'), '/studies/2.a', at('2.1.1', '..'), `${at('2.1.1', '2.1.1.1')}/nothing`, '/nothing', '']) {
			assert.equal((await client.get(path)).status, 404, path);
		}
		const wrongMethod = await client.post(study.replace('studies/2.1', 'series'), Buffer.alloc(0), {});
		assert.deepEqual([wrongMethod.status, wrongMethod.headers.get('allow')], [405, 'GET, HEAD']);
	});

	test('metadata has every element, and where the bulk data is', async () => {
		const answer = await client.get(`${study}/metadata`);
		assert.equal(answer.headers.get('content-type'), 'application/dicom+json');
		const all = answer.json();
		assert.deepEqual(
			all.map((json: never) => json['00080018']['Value'][0]),
			Object.keys(sent),
		);
		const [plain, bigEndianOne, deflatedOne, withFrames] = all;
		assert.deepEqual(plain['00100010'].Value, [{ Alphabetic: 'Müller^Jörg^^Dr.' }]);
		assert.deepEqual(plain['00083002'], { vr: 'UI', Value: ['1.2.840.10008.1.2.1'] });
		assert.deepEqual(Object.keys(plain), Object.keys(plain).sort());
		const ours = ({ '00080018': _uid, '00083002': _syntax, '7FE00010': _pixels, ...rest }: Record<string, unknown>) => rest;
		assert.deepEqual(ours(bigEndianOne), ours(plain));
		assert.deepEqual(ours(deflatedOne), ours(plain));
		const nested = withFrames['00081140'].Value[1]['00091001'];
		assert.ok(nested.BulkDataURI.endsWith(`${at('2.1.2', '2.1.2.1')}/bulkdata/00081140.2.00091001`), nested.BulkDataURI);
		const [series] = (await client.get(`${study}/series/2.1.2/metadata`)).json();
		const [instance] = (await client.get(`${at('2.1.2', '2.1.2.1')}/metadata`)).json();
		assert.deepEqual([series, instance], [withFrames, withFrames]);
	});

	test('bulk data is what the metadata refers to', async () => {
		const follow = (uri: string, headers = {}) => client.get(new URL(uri).pathname.replace('/dicomweb', ''), headers);
		const [json] = (await client.get(`${at('2.1.2', '2.1.2.1')}/metadata`)).json();
		const [nested] = partsOf(await follow(json['00081140'].Value[1]['00091001'].BulkDataURI));
		assert.ok(nested?.bytes.equals(pixels.subarray(0, 2000)));
		const plain = await follow(json['7FE00010'].BulkDataURI, { Accept: 'application/octet-stream' });
		assert.ok(plain.bytes.equals(pixels));
		const [inflated] = (await client.get(`${at('2.1.1', '2.1.1.3')}/metadata`)).json();
		assert.ok((await follow(inflated['7FE00010'].BulkDataURI, { Accept: 'application/octet-stream' })).bytes.equals(pixels));
		const parts = partsOf(await client.get(`${at('2.1.3', '2.1.3.1')}/bulkdata/7FE00010`));
		assert.deepEqual(
			parts.map(({ bytes }) => bytes),
			fragments,
		);
		// Two frames in three fragments, and no table: one part.
		const [joined] = partsOf(await client.get(`${at('2.1.3', '2.1.3.3')}/bulkdata/7FE00010`));
		assert.deepEqual(joined?.bytes, Buffer.concat(fragments));
		for (const path of ['00080005x', '00099999', '00081140', '00081140.3.00081155', '..%2f..', '00081140.1']) {
			assert.equal((await client.get(`${at('2.1.2', '2.1.2.1')}/bulkdata/${path}`)).status, 404, path);
		}
	});

	test('frames come by number: native ones cut, compressed ones as they are stored', async () => {
		const of = async (instance: string, list: string, headers = {}) =>
			client.get(`${at(instance.slice(0, 5), instance)}/frames/${list}`, headers);
		const native = partsOf(await of('2.1.2.1', '1,3'));
		assert.deepEqual(
			native.map(({ headers, bytes }) => [headers['Content-Type'], bytes]),
			[0, 4000].map((from) => ['application/octet-stream; transfer-syntax=1.2.840.10008.1.2.1', pixels.subarray(from, from + 2000)]),
		);
		const single = await of('2.1.2.1', '2', { Accept: 'application/octet-stream' });
		assert.deepEqual(single.bytes, pixels.subarray(2000, 4000));
		const bytesOf = async (instance: string, list: string) => partsOf(await of(instance, list)).map(({ bytes }) => bytes);
		const [first, second, third] = fragments as [Buffer, Buffer, Buffer];
		assert.deepEqual(await bytesOf('2.1.3.1', '3,1'), [third, first]);
		assert.deepEqual(await bytesOf('2.1.3.2', '1,2'), [first, Buffer.concat([second, third])]);
		assert.deepEqual(await bytesOf('2.1.3.4', '1'), [Buffer.concat(fragments)]);
		assert.deepEqual(await bytesOf('2.1.3.5', '1,2'), [Buffer.concat(streams.slice(0, 2)), streams[2]]);
		assert.equal((await of('2.1.3.6', '1')).status, 406);
		const jpeg = await of('2.1.3.1', '1', { Accept: 'image/jpeg' });
		assert.deepEqual([jpeg.headers.get('content-type'), jpeg.bytes], ['image/jpeg', first]);
		const asOctets = await of('2.1.3.1', '1', { Accept: 'multipart/related; type="application/octet-stream"; transfer-syntax=*' });
		assert.equal(partsOf(asOctets)[0]?.headers['Content-Type'], `application/octet-stream; transfer-syntax=${jpegLossless}`);
		assert.equal((await of('2.1.3.3', '1')).status, 406);
		assert.equal((await of('2.1.2.1', '1', { Accept: 'image/jpeg' })).status, 406);
		assert.equal((await of('2.1.2.1', '4')).status, 404);
		for (const list of ['0', '1,', 'a', '1,,2', '-1']) assert.equal((await of('2.1.2.1', list)).status, 400, list);
	});

	test('of what was stored broken, frames are refused, and the rest is given', async () => {
		for (const instance of ['2.1.4.1', '2.1.4.2', '2.1.4.3', '2.1.4.4']) {
			const path = at('2.1.4', instance);
			const first = await client.get(`${path}/frames/${instance === '2.1.4.2' ? 2 : 1}`);
			assert.equal(first.status, 406, instance);
			assert.match(first.json().error, /instance/);
			const [metadata] = (await client.get(`${path}/metadata`)).json();
			assert.deepEqual(metadata['00080018'].Value, [instance]);
			const [part] = partsOf(await client.get(path));
			assert.ok(part && dataSetOf(part.bytes).equals(sent[instance]?.[0] as Buffer));
		}
		assert.equal((await client.get(`${at('2.1.4', '2.1.4.1')}/bulkdata/7FE00010`)).status, 406);
		const broken = await client.get(`${at('2.1.4', '2.1.4.5')}/metadata`);
		assert.match(broken.headers.get('warning') ?? '', /^299 \S+: "The data set of an instance is broken/);
		const [metadata] = broken.json();
		assert.deepEqual([metadata['00280011'].Value, metadata['00400275']], [[5], undefined]);
	});

	test('metadata beyond the limit is refused, not cut', async () => {
		await using small = await testService({ DICOM_METADATA_BYTES_MAX: '1024' });
		const its = dicomWebClient(small, (await small.addSite('west')).key);
		const long = Buffer.concat([sampleDataSet().subarray(0, -76), element(0x0040_a160, 'UT', 'x'.repeat(2000))]);
		assert.equal((await its.store([file({}, undefined, long)])).status, 200);
		const answer = await its.get('/studies/1.2.3/metadata');
		assert.equal(answer.status, 406);
		assert.match(answer.json().error, /longer than 1024 bytes/);
		assert.equal((await its.get('/studies/1.2.3')).status, 200);
	});

	test('is counted', async () => {
		const exposed = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		assert.match(exposed, /^tributary_dicomweb_instances_total\{operation="retrieve",outcome="success"\} [1-9]/m);
		assert.match(exposed, /^tributary_http_requests_total\{surface="fhir",route="\/dicomweb\/studies\/:study",status="2xx"\} [1-9]/m);
	});
});
