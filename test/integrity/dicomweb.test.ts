import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { readFileMeta } from '#dicom/part10.ts';
import { dicomFile, run, temporaryFolder } from '#test/support/dcmtk.ts';
import { without } from '#test/support/needs.ts';
import { eventually, testService } from '#test/support/service.ts';
import { dicomWebClient, partsOf } from '#test/surfaces/dicomweb/client.ts';

const lines = (instance: number) => [
	'(0008,0016) UI =CTImageStorage',
	`(0008,0018) UI [1.2.3.4.${instance}]`,
	'(0008,0020) DA [20240131]',
	'(0008,0060) CS [CT]',
	'(0010,0010) PN [Lovemore^Ada]',
	'(0010,0020) LO [P1]',
	'(0020,000d) UI [1.2.3.1]',
	'(0020,000e) UI [1.2.3.1.1]',
	`(0020,0013) IS [${instance}]`,
	`(0020,4000) LT [instance ${instance}]`,
];

describe('what storescu sent', { skip: without('dcmtk') }, () => {
	test('is found and comes back byte for byte over DICOMweb; sent again by STOW-RS it is the same instance', async () => {
		await using service = await testService();
		using folder = temporaryFolder();
		const { key, site } = await service.addSite('west');
		await setSite(service.administration, { slug: 'west', ae_title: 'WEST' });
		const client = dicomWebClient(service, key);
		const files = await Promise.all([1, 2].map((instance) => dicomFile(folder.path, String(instance), lines(instance), '+te')));
		const port = String(service.port('dimse'));
		await eventually(async () => (await run('echoscu', '-aec', 'WEST', '127.0.0.1', port)).code === 0, 'the AE title');
		const sent = await run('storescu', '-xe', '-aec', 'WEST', '127.0.0.1', port, ...files);
		assert.equal(sent.code, 0, sent.output);
		const dataSetOf = (bytes: Buffer) => bytes.subarray(readFileMeta(bytes).dataSetOffset);
		const [study] = (await client.get('/studies?PatientName=lovemore*')).json();
		assert.equal(study['00201208'].Value[0], 2);
		const parts = partsOf(await client.get('/studies/1.2.3.1'));
		assert.deepEqual(
			parts.map(({ bytes }) => dataSetOf(bytes)),
			files.map((path) => dataSetOf(readFileSync(path))),
		);
		const again = await client.store(
			parts.map(({ bytes }) => bytes),
			'/1.2.3.1',
		);
		assert.equal(again.status, 200, again.bytes.toString());
		const rows = await service.rows('select calling_ae from imaging_instance where site_id = $1', [site.id]);
		assert.equal(rows.length, 2);
	});
});
