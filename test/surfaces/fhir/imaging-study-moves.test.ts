import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { BulkClient } from '#test/support/bulk.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { type GivenImage, opened, sendImages } from '#test/support/images.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let west: FhirCall;
let bulk: BulkClient;

const image = (study: number, patientId?: string): GivenImage => ({
	studyUid: `1.2.${study}`,
	seriesUid: `1.2.${study}.1`,
	sopInstanceUid: `1.2.${study}.1.1`,
	modality: 'CT',
	...(patientId === undefined ? {} : { patientId, patientIssuer: 'MRN' }),
});

before(async () => {
	service = await testService({ BULK_KEPT_MAX: '1000' });
	const { key } = await service.addSite('west', { also: ['A37'] });
	west = fhirClient(service, key);
	bulk = new BulkClient(service, key);
	await opened(service, 'west');
	await sendImages(service.port('dimse'), 'WEST', [image(1, 'P1'), image(2, 'P2'), image(3)]);
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

const get = async (path: string): Promise<FhirBody> => (await west('GET', path)).body;
const studies = async (query: string): Promise<FhirBody[]> =>
	((await get(`/ImagingStudy?${query}`)).entry ?? []).map(({ resource }: FhirBody) => resource);
const uids = async (query: string) => (await studies(query)).map(({ identifier }) => identifier[0].value).sort();

describe('studies', { timeout: 120_000 }, () => {
	test('grow without their indexes being written', async () => {
		await sendImages(
			service.port('dimse'),
			'WEST',
			[2, 3, 4].map((number) => ({ ...image(1, 'P1'), sopInstanceUid: `1.2.1.1.${number}` })),
		);
		const updates = async () => {
			const [row] = await service.rows<{ all: string; in_place: string }>(
				"select n_tup_upd as all, n_tup_hot_upd as in_place from pg_stat_user_tables where relname = 'imaging_study'",
			);
			return row ?? assert.fail('the table has no statistics');
		};
		await eventually(async () => Number((await updates()).all) >= 3, 'the statistics of three updates');
		const { all, in_place } = await updates();
		assert.equal(in_place, all);
	});

	test('are exported as a read gives them, those of patients only where that is asked for, and by time', async () => {
		const exported = async (path: string) => {
			const { output } = await bulk.manifest(await bulk.startExport(path));
			const file = output.find(({ type }: FhirBody) => type === 'ImagingStudy');
			return file === undefined ? [] : bulk.lines(file.url);
		};
		const lines = await exported('/$export');
		assert.equal(lines.length, 3);
		for (const line of lines) assert.equal((await west('GET', `/ImagingStudy/${JSON.parse(line).id}`)).text, line);
		assert.equal((await exported('/Patient/$export?_type=ImagingStudy,Patient')).length, 2);
		assert.equal((await exported(`/$export?_since=${new Date(Date.now() + 60_000).toISOString()}`)).length, 0);
	});

	test('are not imported; a report about one is, and brings it along', async () => {
		const [study] = await studies('instance=1.2.1.1.1');
		const code = { text: 'CT' };
		const report = {
			resourceType: 'DiagnosticReport',
			id: 'r1',
			status: 'final',
			code,
			imagingStudy: [{ reference: `ImagingStudy/${study.id}` }],
		};
		const { output, error } = await bulk.manifest(await bulk.startImport([report, { ...study, id: 'other' }]));
		assert.deepEqual(
			output.map(({ type, count }: FhirBody) => [type, count]),
			[['DiagnosticReport', 1]],
		);
		const [refused = ''] = await bulk.lines(error[0].url);
		assert.deepEqual([JSON.parse(refused).id, JSON.parse(refused).issue[0].code], ['line-2', 'not-supported']);
		const { entry } = await get('/DiagnosticReport?_include=DiagnosticReport:imaging-study');
		assert.deepEqual(entry[1], { ...entry[1], resource: study, search: { mode: 'include' } });
	});

	test('go with their patient through a merge (A40), and back with an unlink (A37)', async () => {
		const mllp = await MllpClient.connect(service.port('mllp'));
		const send = async (event: string, ...segments: string[]) => {
			const head = `MSH|^~\\&|ADT|H|T|S|20260101120000+0000||ADT^${event}|${event}|P|2.5.1`;
			assert.match(await mllp.send([head, `EVN|${event}|20260101120000+0000`, ...segments, ''].join('\r')), /MSA\|AA/);
		};
		const idOf = async (identifier: string) => (await get(`/Patient?identifier=${identifier}`)).entry[0].resource.id;
		const [prior, survivor] = [await idOf('P1'), await idOf('P2')];
		const [before] = await studies('instance=1.2.1.1.1');
		await send('A40', 'PID|1||P2^^^MRN||Name^P2', 'MRG|P1^^^MRN');
		const both = ['urn:oid:1.2.1', 'urn:oid:1.2.2'];
		assert.deepEqual(
			[await uids(`patient=${survivor}`), await uids(`patient=${prior}`)],
			[both, both],
			'who names the prior patient means the survivor',
		);
		const [moved] = await studies('instance=1.2.1.1.1');
		assert.deepEqual(
			[moved.subject, moved.meta.versionId],
			[{ reference: `Patient/${survivor}` }, String(Number(before.meta.versionId) + 1)],
		);
		await sendImages(service.port('dimse'), 'WEST', [{ ...image(4, 'P1') }]);
		assert.deepEqual(await uids(`patient=${survivor}`), ['urn:oid:1.2.1', 'urn:oid:1.2.2', 'urn:oid:1.2.4']);
		await send('A37', 'PID|1||P1^^^MRN||Name^P1', 'PID|2||P2^^^MRN||Name^P2');
		assert.deepEqual(await uids(`patient=${prior}`), ['urn:oid:1.2.1']);
		mllp.close();
	});
});
