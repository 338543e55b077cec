import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { OperationContext } from '#administration/context.ts';
import {
	addReport,
	addReportInput,
	amendReport,
	amendReportInput,
	completeReport,
	listReports,
	listReportsInput,
	searchReportsInput,
} from '#administration/reports.ts';
import { setSite } from '#administration/sites.ts';
import { sampleDataSet } from '#test/support/data-set.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { associateRequest, connect, data, statusOf, store, value } from '../surfaces/dimse/peer.ts';

let service: TestService;
let call: FhirCall;
let other: FhirCall;
let mllp: MllpClient;
let administration: OperationContext;
let instances = 0;
let messages = 0;

const pdf = Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.from(Uint8Array.from({ length: 5000 }, (_, index) => (index * 37) & 0xff))]);

before(async () => {
	service = await testService();
	const west = await service.addSite('west');
	const east = await service.addSite('east', { allowed_ips: ['127.0.0.2'] });
	for (const slug of ['west', 'east']) await setSite(service.administration, { slug, ae_title: slug.toUpperCase() });
	call = fhirClient(service, west.key);
	other = fhirClient(service, east.key);
	mllp = await MllpClient.connect(service.port('mllp'));
	administration = service.administration;
});

after(async () => {
	mllp.close();
	await service[Symbol.asyncDispose]();
});

async function send(client: MllpClient, ...segments: string[]): Promise<{ code: string; text: string }> {
	const header = `MSH|^~\\&|RIS|HOSP|TRIB|SITE|20240102030405+0100||ORU^R01^ORU_R01|R${++messages}|P|2.5.1`;
	return msa(await client.send([header, ...segments].join('\r')));
}

async function taken(...segments: string[]): Promise<void> {
	assert.deepEqual(await send(mllp, ...segments), { code: 'AA', controlId: `R${messages}`, text: '' });
}

const pid = (id: string) => `PID|1||${id}^^^HOSPITAL||Doe^Jane||19800517|F`;

interface Order {
	filler?: string;
	placer?: string;
	accession?: string;
	status: string;
	code?: string;
	section?: string;
	interpreter?: string;
}

function obr({
	filler = '',
	placer = '',
	accession = '',
	status,
	code = 'CTHEAD^CT of the head^L',
	section = 'CT',
	interpreter = '',
}: Order) {
	const fields = ['OBR', '1', placer, filler, code];
	fields[7] = '20240102030405+0100';
	fields[18] = accession;
	fields[22] = '20240102040506+0100';
	fields[24] = section;
	fields[25] = status;
	fields[32] = interpreter;
	return Array.from(fields, (field) => field ?? '').join('|');
}

const obx = (number: number, type: string, code: string, content: string, status = 'F') =>
	`OBX|${number}|${type}|${code}||${content}||||||${status}`;

/** Stores an instance over DIMSE, which begins the study where it is the first. */
async function storeInstance(test: TestContext, given: { studyUid: string; patientId: string; accessionNumber?: string }, called = 'WEST') {
	const number = ++instances;
	let peer = await connect(test, service.port('dimse'));
	await eventually(async () => {
		const [answer] = await peer.ask(associateRequest({ called }));
		if (answer?.type === 2) return true;
		peer = await connect(test, service.port('dimse'));
		return false;
	}, 'the association');
	const dataSet = sampleDataSet({ ...given, sopInstanceUid: `1.2.3.${number}`, seriesUid: `${given.studyUid}.1` });
	const [answer] = await peer.ask(data(value(3, 'command', store(number)), value(3, 'data', dataSet)));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0);
	peer.socket.end();
}

async function search(query: string, by = call): Promise<FhirBody[]> {
	const { status, body } = await by('GET', `/DiagnosticReport?${query}`);
	assert.equal(status, 200, JSON.stringify(body));
	return (body.entry ?? []).map(({ resource }: FhirBody) => resource);
}

async function only(query: string): Promise<FhirBody> {
	const found = await search(query);
	assert.equal(found.length, 1, query);
	return found[0];
}

const textOf = (report: FhirBody) =>
	Buffer.from(report.presentedForm.find(({ contentType }: FhirBody) => contentType.startsWith('text/plain')).data, 'base64').toString(
		'utf8',
	);

const studyId = async (uid: string) => {
	const [row] = await service.rows<{ id: string }>('select id from imaging_study where study_uid = $1', [uid]);
	return row?.id;
};

describe('ORU^R01', () => {
	test('a report is a draft, then final, and amended when it is changed; the history keeps every text', async () => {
		const order = { filler: 'F1', placer: 'P1', accession: 'A1', interpreter: '77&Weiss&Anna^20240102' };
		const of = (status: string, text: string) => [pid('100'), obr({ ...order, status }), obx(1, 'TX', '18782-3^Findings^LN', text)];
		await taken(...of('P', 'Nothing yet.'));
		const draft = await only('identifier=F1');
		assert.deepEqual(
			[draft.status, draft.code.text ?? draft.code.coding[0].display, draft.issued, draft.effectiveDateTime],
			['preliminary', 'CT of the head', '2024-01-02T04:05:06+01:00', '2024-01-02T03:04:05+01:00'],
		);
		assert.equal(textOf(draft), 'Nothing yet.');
		assert.equal(draft.resultsInterpreter[0].display, 'Anna Weiss');
		assert.deepEqual(
			draft.identifier.map(({ type, value: number }: FhirBody) => [type.coding[0].code, number]),
			[
				['PLAC', 'P1'],
				['FILL', 'F1'],
				['ACSN', 'A1'],
			],
		);
		const { body: observation } = await call('GET', `/${draft.result[0].reference}`);
		assert.equal(observation.valueString, 'Nothing yet.');
		await taken(...of('F', 'No bleeding.'));
		await taken(...of('F', 'No bleeding.'));
		const final = await only('identifier=F1');
		assert.deepEqual([final.id, final.status, final.meta.versionId], [draft.id, 'final', '2']);
		await taken(...of('F', 'No bleeding, no fracture.'));
		const amended = await only('identifier=F1');
		assert.deepEqual([amended.id, amended.status, textOf(amended)], [draft.id, 'amended', 'No bleeding, no fracture.']);
		await taken(...of('P', 'Late draft.'));
		assert.equal(textOf(await only('identifier=F1')), 'No bleeding, no fracture.');
		await taken(...of('C', 'Corrected.'));
		const { body: history } = await call('GET', `/DiagnosticReport/${draft.id}/_history`);
		assert.deepEqual(
			history.entry.map(({ resource }: FhirBody) => [resource.meta.versionId, resource.status, textOf(resource)]),
			[
				['4', 'corrected', 'Corrected.'],
				['3', 'amended', 'No bleeding, no fracture.'],
				['2', 'final', 'No bleeding.'],
				['1', 'preliminary', 'Nothing yet.'],
			],
		);
		assert.equal(textOf((await call('GET', `/DiagnosticReport/${draft.id}/_history/1`)).body), 'Nothing yet.');
		await taken(pid('100'), obr({ ...order, status: 'X' }));
		const withdrawn = await only('identifier=F1');
		assert.deepEqual([withdrawn.status, textOf(withdrawn)], ['entered-in-error', 'Corrected.']);
	});

	test('a message without a text moves the report on and leaves its text', async () => {
		await taken(pid('101'), obr({ filler: 'F2', status: 'P' }), obx(1, 'FT', 'GDT^Text^L', 'A\\.br\\B'));
		await taken(pid('101'), obr({ filler: 'F2', status: 'F' }));
		const report = await only('identifier=F2');
		assert.deepEqual([report.status, textOf(report), report.result.length], ['final', 'A\nB', 1]);
	});

	test('sections, impression and document make one report; the PDF comes back byte for byte', async () => {
		await taken(
			pid('102'),
			obr({ filler: 'F3', status: 'F' }),
			obx(1, 'TX', '18782-3^Findings^LN', 'Line 1'),
			obx(2, 'TX', '18782-3^Findings^LN', 'Line 2'),
			obx(3, 'ST', '19005-8^Impression^LN', 'Normal.'),
			obx(4, 'ED', 'PDF^Report^L', `^application^pdf^Base64^${pdf.toString('base64')}`),
		);
		const report = await only('identifier=F3');
		assert.equal(textOf(report), 'Findings\nLine 1\nLine 2\n\nImpression\nNormal.');
		assert.equal(report.conclusion, 'Normal.');
		const form = report.presentedForm.find(({ contentType }: FhirBody) => contentType === 'application/pdf');
		assert.ok(pdf.equals(Buffer.from(form.data, 'base64')));
		assert.equal(report.result.length, 3);
	});

	test('each order is a report, and each OBR-4 of a laboratory order', async () => {
		const panel = (code: string, status = 'F') => obr({ filler: 'L1', status, code: `${code}^${code}^L`, section: 'CH' });
		await taken(pid('103'), panel('NA'), obx(1, 'NM', 'NA^Na^L', '140'), panel('K'), obx(1, 'NM', 'K^K^L', '4'));
		await taken(pid('103'), panel('K'), obx(1, 'NM', 'K2^K2^L', '5'));
		await taken(pid('103'), obr({ filler: 'L2', status: 'F', code: 'NA^NA^L', section: 'CH' }), obx(1, 'NM', 'NA^Na^L', '141'));
		const found = await search('identifier=L1&_sort=_id');
		assert.deepEqual(
			found.map(({ code, status, result, presentedForm }) => [code.coding[0].code, status, result.length, presentedForm]),
			[
				['NA', 'final', 1, undefined],
				['K', 'appended', 2, undefined],
			],
		);
		assert.equal((await search('identifier=L2')).length, 1);
		assert.equal((await search('patient.identifier=103&category=CH')).length, 3);
	});

	test('broken base64, an image and an order of another patient are refused, and leave no report', async () => {
		const refused = async (...segments: string[]) => (await send(mllp, ...segments)).code;
		const broken = obx(1, 'ED', 'PDF^Report^L', '^application^pdf^Base64^%%%');
		assert.equal(await refused(pid('104'), obr({ filler: 'B1', status: 'F' }), broken), 'AE');
		assert.equal(await refused(pid('104'), obr({ filler: 'B2', status: 'F' }), obx(1, 'ED', 'I^I^L', '^image^jpeg^Base64^/9j/')), 'AE');
		await taken(pid('104'), obr({ filler: 'B3', status: 'F' }));
		const foreign = await send(mllp, pid('105'), obr({ filler: 'B3', status: 'F' }));
		assert.equal(foreign.code, 'AE');
		assert.match(foreign.text, /another patient/);
		assert.equal((await search('identifier=B1,B2')).length, 0);
		assert.equal((await search('patient.identifier=105')).length, 0);
	});

	test('an order without number is known by its accession number within the patient', async () => {
		for (const [patient, status] of [
			['106', 'P'],
			['107', 'P'],
			['106', 'F'],
		] as const)
			await taken(pid(patient), obr({ accession: 'SAME', status }), obx(1, 'TX', 'GDT^T^L', `${patient} ${status}`));
		const own = await only('patient.identifier=106');
		assert.deepEqual([own.status, textOf(own), own.result.length], ['final', '106 F', 1]);
		assert.equal((await only('patient.identifier=107')).status, 'preliminary');
	});

	test('OBR-25 that table 0123 does not list, no OBR-4 and odd study UIDs do no harm', async () => {
		await taken(pid('108'), obr({ filler: 'O1', status: 'Q', code: '' }), 'ZDS|no uid^A^Application^DICOM', obx(1, 'TX', 'GDT^T^L', 'x'));
		const report = await only('identifier=O1');
		assert.equal(report.status, 'unknown');
		assert.equal(report.imagingStudy, undefined);
		await taken('PID|1||108^^^HOSPITAL', 'ZDS|1.2.3^A^Application^DICOM', 'OBR|1||O2');
		assert.equal((await search('identifier=O2')).length, 0);
	});
});

describe('a study', () => {
	test('that is known by its accession number is the one of the report, of its patient only', async (context) => {
		await storeInstance(context, { studyUid: '1.2.40', patientId: 'S1', accessionNumber: 'ACC40' });
		await taken(pid('S1'), obr({ filler: 'S40', accession: 'ACC40', status: 'F' }), obx(1, 'TX', 'GDT^T^L', 'of the study'));
		const report = await only('identifier=S40');
		assert.equal(report.imagingStudy[0].reference, `ImagingStudy/${await studyId('1.2.40')}`);
		const [listed, ...others] = await listReports(administration, listReportsInput.parse({ study: '1.2.40' }));
		assert.deepEqual([listed?.id, listed?.study_uid, listed?.accession_number, others], [report.id, '1.2.40', 'ACC40', []]);
		const searched = await listReports(administration, searchReportsInput.parse({ study: '1.2.40', text: 'ACC40' }));
		assert.deepEqual(searched, [listed], 'a search has the filters of the list');
		assert.equal((await search(`imaging-study=ImagingStudy/${await studyId('1.2.40')}`)).length, 1);
		await taken(pid('S2'), obr({ filler: 'S41', accession: 'ACC40', status: 'F' }));
		const foreign = await only('identifier=S41');
		assert.equal(foreign.imagingStudy, undefined);
		const [logged] = await service.rows<{ flags: { code: string }[] }>('select flags from message_log where control_id = $1', [
			`R${messages}`,
		]);
		assert.deepEqual(
			logged?.flags.map(({ code }) => code),
			['other-patient'],
		);
	});

	const late: [string, string, (uid: string) => string[]][] = [
		['ZDS-1', '1.2.50', (uid) => [obr({ filler: 'S50', status: 'F' }), `ZDS|${uid}^100^Application^DICOM`]],
		['IPC-3', '1.2.51', (uid) => [obr({ filler: 'S51', status: 'F' }), `IPC|ACC51|RP1|${uid}`]],
		[
			'an OBX',
			'1.2.52',
			(uid) => [obr({ filler: 'S52', status: 'F' }), obx(1, 'ST', '110180^Study Instance UID^DCM', uid), obx(2, 'TX', 'GDT^T^L', 'Text')],
		],
		['OBR-18', '1.2.53', () => [obr({ filler: 'S53', accession: 'LATE-1.2.53', status: 'F' })]],
		['the filler number', '1.2.54', () => [obr({ filler: 'LATE-1.2.54', status: 'F' })]],
	];
	for (const [name, uid, segments] of late) {
		test(`that arrives after its report finds it by ${name}`, async (context) => {
			const patientId = `L${uid}`;
			await taken(pid(patientId), ...segments(uid));
			const before = await only(`patient.identifier=${patientId}`);
			assert.equal(before.imagingStudy?.[0].reference, undefined);
			await storeInstance(context, { studyUid: `${uid}.99`, patientId: 'somebody else', accessionNumber: `LATE-${uid}` });
			assert.equal((await only(`patient.identifier=${patientId}`)).meta.versionId, '1');
			await storeInstance(context, { studyUid: uid, patientId, accessionNumber: `LATE-${uid}` });
			await storeInstance(context, { studyUid: uid, patientId, accessionNumber: `LATE-${uid}` });
			const after = await only(`patient.identifier=${patientId}`);
			assert.deepEqual([after.id, after.meta.versionId, after.status], [before.id, '2', 'final']);
			assert.deepEqual(after.imagingStudy, [
				{
					reference: `ImagingStudy/${await studyId(uid)}`,
					type: 'ImagingStudy',
					identifier: { system: 'urn:dicom:uid', value: `urn:oid:${uid}` },
				},
			]);
			await taken(pid(patientId), ...segments(uid));
			assert.equal((await only(`patient.identifier=${patientId}`)).meta.versionId, '2');
		});
	}
});

describe('a report of the administration', () => {
	test('is written on a study, completed and amended; its patient, study and document are found in FHIR', async (context) => {
		await storeInstance(context, { studyUid: '1.2.60', patientId: 'C1' });
		const input = {
			site: 'west',
			study: '1.2.60',
			text: 'Größe normal.',
			title: 'CT head',
			author: 'Dr. Weiss',
			pdf: pdf.toString('base64'),
		};
		const added = await addReport(administration, addReportInput.parse(input));
		assert.deepEqual([added.status, added.version, added.title, added.author], ['draft', 1, 'CT head', 'Dr. Weiss']);
		const draft = await only('patient.identifier=C1');
		assert.deepEqual([draft.id, draft.status, draft.effectiveDateTime], [added.id, 'preliminary', '2024-01-31']);
		assert.equal(draft.imagingStudy[0].reference, `ImagingStudy/${await studyId('1.2.60')}`);
		assert.ok(pdf.equals(Buffer.from(draft.presentedForm[1].data, 'base64')));
		assert.equal(draft.meta.source, 'urn:tributary:administration:report');
		assert.equal((await completeReport(administration, added.id)).status, 'completed');
		await assert.rejects(completeReport({ ...administration, visibleSites: ['west'] }, added.id), /completed already/);
		const amended = await amendReport(administration, amendReportInput.parse({ id: added.id, text: 'Größe vermehrt.' }));
		assert.deepEqual([amended.status, amended.fhir_status, amended.version], ['amended', 'amended', 3]);
		const report = await only('patient.identifier=C1&status=final');
		assert.equal(textOf(report), 'Größe vermehrt.');
		assert.equal(report.presentedForm.length, 1, 'the document said what the text no longer says');
		const { body } = await call('GET', `/DiagnosticReport/${added.id}/_history/2`);
		assert.ok(pdf.equals(Buffer.from(body.presentedForm[1].data, 'base64')));
		const audited = await service.rows<{ action: string; actor: string; detail: object }>(
			'select action, actor, detail from audit_event where subject = $1 order by recorded_at, id',
			[added.id],
		);
		assert.deepEqual(audited, [
			{ action: 'report.add', actor: 'test', detail: { version: 1, status: 'preliminary', study_uid: '1.2.60' } },
			{ action: 'report.complete', actor: 'test', detail: { version: 2, status: 'final' } },
			{ action: 'report.amend', actor: 'test', detail: { version: 3, status: 'amended' } },
		]);
	});

	test('moves with a merge, and takes the number of the site’s order', async (context) => {
		await storeInstance(context, { studyUid: '1.2.61', patientId: 'M1' });
		const turn = async () => Number((await service.rows<{ s: string }>('select sum(sequence) as s from site_turn'))[0]?.s);
		const before = await turn();
		const added = await addReport(administration, addReportInput.parse({ site: 'west', study: '1.2.61', text: 'x', status: 'completed' }));
		assert.equal(await turn(), before + 1);
		const header = `MSH|^~\\&|RIS|HOSP|TRIB|SITE|20240102||ADT^A40|M${++messages}|P|2.5.1`;
		const merge = [header, 'EVN|A40|20240102', pid('M2'), 'MRG|M1^^^HOSPITAL'].join('\r');
		assert.equal(msa(await mllp.send(merge)).code, 'AA');
		const moved = await only('patient.identifier=M2');
		assert.deepEqual([moved.id, moved.meta.versionId], [added.id, '2']);
		const amended = await amendReport(administration, amendReportInput.parse({ id: added.id, text: 'y' }));
		assert.deepEqual([amended.status, amended.version], ['amended', 3]);
	});
});

describe('status, sites and methods', () => {
	test('final finds completed and amended reports, any other status drafts', async () => {
		const statuses = async (query: string) => new Set((await search(`${query}&_count=100`)).map(({ status }) => status));
		assert.deepEqual([...(await statuses('status=final'))].sort(), ['amended', 'appended', 'final']);
		for (const code of ['preliminary', 'draft', 'amended']) {
			const found = await statuses(`status=${code}`);
			assert.ok(found.has('preliminary') && !found.has('final') && !found.has('amended'), code);
		}
		assert.ok((await search('date=2024-01-02&issued=2024-01-02&code=CTHEAD')).length > 3);
	});

	test('a site sees its own reports only, and joins them to its own studies', async (context) => {
		const from = await MllpClient.connect(service.port('mllp'), '127.0.0.2');
		await storeInstance(context, { studyUid: '1.2.70', patientId: 'E1', accessionNumber: 'ACC70' });
		const answer = await send(from, pid('E1'), obr({ filler: 'F1', accession: 'ACC70', status: 'P' }), 'ZDS|1.2.70');
		from.close();
		assert.equal(answer.code, 'AA');
		const [report, ...more] = await search('', other);
		assert.deepEqual([report.status, more.length, report.imagingStudy[0].reference], ['preliminary', 0, undefined]);
		assert.equal((await call('GET', `/DiagnosticReport/${report.id}`)).status, 404);
		assert.notEqual((await only('identifier=F1')).id, report.id);
		const unknown = addReport(administration, addReportInput.parse({ site: 'east', study: '1.2.70', text: 'x' }));
		await assert.rejects(unknown, /no study of this UID/);
		await assert.rejects(completeReport({ ...administration, visibleSites: ['west'] }, report.id), /there is no report/);
	});

	test('reports are not written through FHIR, and what was written is counted', async () => {
		const report = await only('identifier=F2');
		assert.equal((await call('POST', '/DiagnosticReport', report)).status, 405);
		assert.equal((await call('PUT', `/DiagnosticReport/${report.id}`, report)).status, 405);
		const metrics = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		assert.match(metrics, /^tributary_report_versions_total\{status="corrected"\} 1$/m);
	});
});
