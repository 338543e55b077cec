import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readFileMeta } from '#dicom/part10.ts';
import { corpusFiles } from '#test/support/corpus.ts';
import { without } from '#test/support/needs.ts';
import { testService } from '#test/support/service.ts';
import { dicomWebClient, partsOf } from './client.ts';

describe('the shared DICOM files over DICOMweb', { skip: without('corpus') }, () => {
	test('what can be stored goes in by STOW-RS and comes out byte for byte; its metadata and its first frame can be read', async () => {
		await using service = await testService();
		const client = dicomWebClient(service, (await service.addSite('west')).key);
		const files = corpusFiles('dicom').filter(({ expect }) => expect === 'accept');
		assert.ok(files.length >= 130);
		const known = new Map<string, Buffer>();
		let frames = 0;
		for (const { path, bytes } of files) {
			const { dataSetOffset, transferSyntaxUid } = readFileMeta(bytes);
			const dataSet = bytes.subarray(dataSetOffset);
			const answer = await client.store([bytes]);
			const [item] = answer.json()['00081199']?.Value ?? [];
			assert.ok(item, `${path}: ${answer.bytes.toString()}`);
			const [uid] = item['00081155'].Value;
			const first = known.get(uid);
			// Some of the files have one UID and differ.
			assert.equal(answer.status, first === undefined || first.equals(dataSet) ? 200 : 202, path);
			if (first !== undefined) continue;
			known.set(uid, dataSet);
			const url = new URL(item['00081190'].Value[0]).pathname.replace('/dicomweb', '');
			const [part] = partsOf(await client.get(url));
			assert.ok(part, path);
			const meta = readFileMeta(part.bytes);
			assert.deepEqual([meta.sopInstanceUid, meta.transferSyntaxUid], [uid, transferSyntaxUid], path);
			assert.ok(part.bytes.subarray(meta.dataSetOffset).equals(dataSet), path);
			const [metadata] = (await client.get(`${url}/metadata`)).json();
			assert.deepEqual(metadata['00080018'], { vr: 'UI', Value: [uid] }, path);
			const frame = await client.get(`${url}/frames/1`, { Accept: 'multipart/related; transfer-syntax=*' });
			assert.ok([200, 404, 406].includes(frame.status), `${path}: ${frame.status}`);
			if (frame.status === 200) {
				frames += 1;
				assert.equal(partsOf(frame).length, 1, path);
				assert.ok(
					dataSet.includes(partsOf(frame)[0]?.bytes.subarray(0, 1000) ?? Buffer.alloc(0)) || /\.99$/.test(transferSyntaxUid ?? ''),
					path,
				);
			} else assert.equal(metadata['7FE00010'] === undefined, frame.status === 404, path);
		}
		assert.ok(known.size >= 70 && frames >= 60, `${known.size} instances, ${frames} frames`);
	});

	test('what names no instance is refused', async () => {
		await using service = await testService();
		const { key, site } = await service.addSite('west');
		const client = dicomWebClient(service, key);
		const files = corpusFiles('dicom').filter(({ expect }) => expect === 'reject');
		assert.ok(files.length >= 8);
		for (const { path, bytes } of files) {
			const answer = await client.store([bytes]);
			assert.equal(answer.status, 409, path);
			const json = answer.json();
			const [failed] = [...(json['00081198']?.Value ?? []), ...(json['0008119A']?.Value ?? [])];
			assert.ok([0xa900, 0xc000].includes(failed['00081197'].Value[0]), path);
		}
		assert.deepEqual(await service.rows('select 1 from imaging_instance where site_id = $1', [site.id]), []);
	});
});
