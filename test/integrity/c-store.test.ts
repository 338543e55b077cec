import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { checkObjects } from '#administration/objects.ts';
import { setSite } from '#administration/sites.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { without } from '#test/support/needs.ts';
import { eventually, testService } from '#test/support/service.ts';

const dump = (instance: string, patientId: string, comment: string) => `
(0008,0016) UI =CTImageStorage
(0008,0018) UI [1.2.3.4.${instance}]
(0008,0020) DA [20240131]
(0008,0030) TM [101500]
(0008,0050) SH [ACC1]
(0008,0060) CS [CT]
(0010,0010) PN [Lovemore^Ada]
(0010,0020) LO [${patientId}]
(0010,0030) DA [18151210]
(0010,0040) CS [F]
(0020,000d) UI [1.2.3.1]
(0020,000e) UI [1.2.3.1.${instance.length}]
(0020,0013) IS [1]
(0020,4000) LT [${comment}]
`;

function run(program: string, parameters: string[]): Promise<{ code: number; output: string }> {
	return new Promise((resolve) => {
		execFile(program, parameters, { env: { ...process.env, TCP_NODELAY: '1' } }, (error, stdout, stderr) =>
			resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr }),
		);
	});
}

describe('C-STORE from storescu', { skip: without('dcmtk') }, () => {
	test('is on disk and in the index when it is answered; again it is one copy, other content is kept aside', async () => {
		await using service = await testService();
		const { key, site } = await service.addSite('west');
		await setSite(service.administration, { slug: 'west', ae_title: 'WEST' });
		const directory = mkdtempSync(join(tmpdir(), 'tributary-dicom-'));
		const file = async (name: string, text: string) => {
			writeFileSync(join(directory, `${name}.txt`), text);
			const made = await run('dump2dcm', [join(directory, `${name}.txt`), join(directory, `${name}.dcm`)]);
			assert.equal(made.code, 0, made.output);
			return join(directory, `${name}.dcm`);
		};
		const send = (...files: string[]) => run('storescu', ['-v', '-aec', 'WEST', '127.0.0.1', String(service.port('dimse')), ...files]);
		try {
			await eventually(
				async () => (await run('echoscu', ['-aec', 'WEST', '127.0.0.1', String(service.port('dimse'))])).code === 0,
				'the AE title',
			);
			const first = await file('first', dump('1', 'P1', 'one'));
			const second = await file('second', dump('22', 'P1', 'two'));
			const sent = await send(first, second);
			assert.equal(sent.code, 0, sent.output);
			assert.equal(sent.output.match(/Received Store Response \(Success\)/g)?.length, 2, sent.output);
			const study = async () =>
				service.rows('select instance_count, series_count, modalities, accession_number from imaging_study where site_id = $1', [site.id]);
			const expected = [{ instance_count: 2, series_count: 2, modalities: ['CT'], accession_number: 'ACC1' }];
			assert.deepEqual(await study(), expected);
			assert.equal((await send(first)).code, 0);
			assert.deepEqual(await study(), expected);
			const other = await send(await file('other', dump('1', 'P1', 'another')));
			assert.match(other.output, /Warning|b000/i);
			assert.deepEqual(await study(), expected);
			assert.equal((await service.rows('select 1 from imaging_conflict where site_id = $1 and settled_at is null', [site.id])).length, 1);
			const found = await fhirClient(service, key)('GET', '/Patient?identifier=P1');
			assert.equal(found.body.entry[0].resource.name[0].family, 'Lovemore');
			assert.equal(found.body.entry[0].resource.birthDate, '1815-12-10');
			const report = await checkObjects(
				service.administration.database,
				configuredObjectStore({ DATA_DIR: service.dataDir }),
				Date.now() + 7_200_000,
				{
					remove: false,
					repair: false,
				},
			);
			assert.deepEqual([report.objects, report.objects_without_rows, report.rows_without_objects, report.objects_too_young], [3, 0, 0, 0]);
			const unknown = await run('storescu', ['-aec', 'NOBODY', '127.0.0.1', String(service.port('dimse')), first]);
			assert.notEqual(unknown.code, 0);
			assert.match(unknown.output, /Called AE Title Not Recognized/);
		} finally {
			rmSync(directory, { recursive: true, force: true });
		}
	});
});
