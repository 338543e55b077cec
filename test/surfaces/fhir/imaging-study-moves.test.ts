import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
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

describe('studies', () => {
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

describe('studies that clients write', () => {
	const uid = (value: string) => ({ system: 'urn:dicom:uid', value: `urn:oid:${value}` });
	const written = (study: number, more: object = {}): FhirBody => ({
		resourceType: 'ImagingStudy',
		status: 'registered',
		identifier: [uid(`1.2.${study}`)],
		subject: { reference: 'Patient/w1' },
		series: [
			{
				uid: `1.2.${study}.7`,
				modality: { system: 'http://dicom.nema.org/resources/ontology/DCM', code: 'MR' },
				instance: [{ uid: `1.2.${study}.7.1`, sopClass: { system: 'urn:ietf:rfc:3986', code: 'urn:oid:1.2.840.10008.5.1.4.1.1.4' } }],
			},
		],
		...more,
	});
	const idsBy = async (query: string) => (await studies(query)).map(({ id }) => id).sort();
	const numbered = (value: string) => [{ system: 'urn:oid:1.9.8', value }];

	before(async () => {
		await setSite(service.administration, { slug: 'west', report_writes: true });
		for (const id of ['w1', 'w2']) await west('PUT', `/Patient/${id}`, { resourceType: 'Patient', id, identifier: numbered(id) });
		await eventually(async () => (await west('PUT', '/ImagingStudy/s20', written(20, { id: 's20' }))).status < 300, 'the setting');
	});

	test('are found by study, series and instance, by what they are and by whom they show', async () => {
		for (const query of [
			'identifier=urn:dicom:uid|urn:oid:1.2.20',
			'identifier=1.2.20',
			'series=1.2.20.7',
			'instance=urn:oid:1.2.20.7.1',
			'instance=1.2.20.7.1&series=1.2.20.7&status=registered',
			'modality=MR',
			'dicom-class=urn:oid:1.2.840.10008.5.1.4.1.1.4',
			'patient=w1',
			'patient.identifier=w1',
		])
			assert.deepEqual(await idsBy(query), ['s20'], query);
		for (const query of ['series=1.2.20.8', 'instance=1.2.20.7', 'status=available&patient=w1'])
			assert.deepEqual(await idsBy(query), [], query);
	});

	test('have a history, which rendered ones do not have', async () => {
		await west('PUT', '/ImagingStudy/s21', written(21, { id: 's21' }));
		const updated = await west('PUT', '/ImagingStudy/s21', written(21, { id: 's21', status: 'available', series: undefined }));
		assert.deepEqual([updated.status, updated.body.meta.versionId], [200, '2']);
		assert.deepEqual(await idsBy('series=1.2.21.7'), [], 'the search follows the current version');
		const { entry } = await get('/ImagingStudy/s21/_history');
		assert.deepEqual(
			entry.map(({ resource }: FhirBody) => [resource.meta.versionId, resource.status, resource.series?.length]),
			[
				['2', 'available', undefined],
				['1', 'registered', 1],
			],
		);
		assert.equal((await get('/ImagingStudy/s21/_history/1')).status, 'registered');
		const of = await get('/ImagingStudy/_history?_count=100');
		assert.ok(of.entry.some(({ resource }: FhirBody) => resource.id === 's21' && resource.meta.versionId === '1'));
	});

	test('are not written under the id of a rendered one, alone, in a transaction and by an import', async () => {
		const [rendered] = await studies('instance=1.2.3.1.1');
		const body = written(3, { id: rendered.id });
		const refused = await west('PUT', `/ImagingStudy/${rendered.id}`, body);
		assert.equal(refused.status, 409, refused.text);
		assert.match(refused.body.issue[0].diagnostics, /images/);
		const patched = await west('PATCH', `/ImagingStudy/${rendered.id}`, [{ op: 'add', path: '/description', value: 'x' }]);
		assert.equal(patched.status, 409, patched.text);
		const request = { method: 'PUT', url: `ImagingStudy/${rendered.id}` };
		const transaction = await west('POST', '', { resourceType: 'Bundle', type: 'transaction', entry: [{ resource: body, request }] });
		assert.equal(transaction.status, 409, transaction.text);
		const { error } = await bulk.manifest(await bulk.startImport([body, written(22, { id: 's22' })]));
		const [line = ''] = await bulk.lines(error[0].url);
		assert.deepEqual([error[0].count, JSON.parse(line).id], [1, 'line-1'], line);
		assert.deepEqual(
			(await studies('instance=1.2.3.1.1')).map(({ meta }) => meta.versionId),
			[rendered.meta.versionId],
		);
		assert.deepEqual(await idsBy('instance=1.2.22.7.1'), ['s22']);
	});

	test('stay as they are when images of the same study arrive, which stand beside them', async () => {
		const { text } = await west('GET', '/ImagingStudy/s20');
		await sendImages(service.port('dimse'), 'WEST', [image(20, 'P2')]);
		const both = await studies('identifier=urn:dicom:uid|urn:oid:1.2.20');
		assert.equal(both.length, 2);
		const rendered = both.find(({ id }) => id !== 's20');
		assert.deepEqual([rendered.status, rendered.series[0].uid], ['available', '1.2.20.1']);
		const sources = both.map(({ id, meta }) => [id === 's20', meta.source]).sort();
		assert.match(String(sources.find(([isOurs]) => isOurs)?.[1]), /./);
		assert.notEqual(sources[0]?.[1], sources[1]?.[1]);
		assert.equal((await west('GET', '/ImagingStudy/s20')).text, text);
		assert.deepEqual(await idsBy('instance=1.2.20.1.1'), [rendered.id]);
		assert.deepEqual(await idsBy('instance=1.2.20.7.1'), ['s20']);
		const lines = (await bulk.exported('/$export?_type=ImagingStudy')).get('ImagingStudy') ?? [];
		assert.deepEqual(lines.filter((line) => line.includes('urn:oid:1.2.20"')).length, 2);
	});

	test('go with their patient through a merge and back, with the reports about them', async () => {
		const mllp = await MllpClient.connect(service.port('mllp'));
		const send = async (event: string, ...segments: string[]) => {
			const head = `MSH|^~\\&|ADT|H|T|S|20260101120000+0000||ADT^${event}|W${event}|P|2.5.1`;
			assert.match(await mllp.send([head, `EVN|${event}|20260101120000+0000`, ...segments, ''].join('\r')), /MSA\|AA/);
		};
		const imagingStudy = [{ reference: 'ImagingStudy/s20' }];
		const report = {
			resourceType: 'DiagnosticReport',
			id: 'wr',
			status: 'final',
			code: { text: 'MR' },
			subject: { reference: 'Patient/w1' },
			imagingStudy,
		};
		assert.equal((await west('PUT', '/DiagnosticReport/wr', report)).status, 201);
		const [, second = ''] = ['w1', 'w2'].map((id) => `${id}^^^&1.9.8&ISO`);
		const whose = async () => [(await get('/ImagingStudy/s20')).subject.reference, (await get('/DiagnosticReport/wr')).subject.reference];
		await send('A40', `PID|1||${second}||Survivor^W`, 'MRG|w1^^^&1.9.8&ISO');
		assert.deepEqual(await whose(), ['Patient/w2', 'Patient/w2']);
		assert.deepEqual([await idsBy('patient=w2&series=1.2.20.7'), await idsBy('patient=w1&series=1.2.20.7')], [['s20'], ['s20']]);
		assert.equal((await get('/ImagingStudy/s20/_history')).entry[1].resource.subject.reference, 'Patient/w1');
		await send('A37', `PID|1||w1^^^&1.9.8&ISO||Prior^W`, `PID|2||${second}||Survivor^W`);
		assert.deepEqual(await whose(), ['Patient/w1', 'Patient/w1']);
		assert.deepEqual(await idsBy('patient=w2'), []);
		mllp.close();
	});

	test('and reports cannot be written again where the setting is off, and are still read', async () => {
		await setSite(service.administration, { slug: 'west', report_writes: false });
		await eventually(async () => (await west('PUT', '/ImagingStudy/s21', written(21, { id: 's21' }))).status === 405, 'the setting');
		assert.equal(
			(await west('POST', '/DiagnosticReport', { resourceType: 'DiagnosticReport', status: 'final', code: { text: 'x' } })).status,
			405,
		);
		assert.deepEqual(await idsBy('series=1.2.20.7'), ['s20']);
		assert.equal((await west('GET', '/DiagnosticReport/wr')).status, 200);
	});
});
