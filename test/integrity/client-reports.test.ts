import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { amendReport, amendReportInput, completeReport } from '#administration/reports.ts';
import { setSite } from '#administration/sites.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { opened, sendImages } from '#test/support/images.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let call: FhirCall;
let mllp: MllpClient;
let messages = 0;

before(async () => {
	service = await testService();
	call = fhirClient(service, (await service.addSite('west')).key);
	await opened(service, 'west');
	mllp = await MllpClient.connect(service.port('mllp'));
});

after(async () => {
	mllp.close();
	await service[Symbol.asyncDispose]();
});

/** Sends a report of the order CW1 of the patient 130. */
async function report(status: string, text: string): Promise<void> {
	const segments = [
		`MSH|^~\\&|RIS|HOSP|TRIB|SITE|2024010203040${messages}+0100||ORU^R01^ORU_R01|R${++messages}|P|2.5.1`,
		'PID|1||130^^^HOSPITAL||Doe^Jane||19800517|F',
		`OBR|1||CW1|CTHEAD^CT of the head^L|||20240102030405+0100|||||||||||||||20240102040506+0100||CT|${status}`,
		`OBX|1|TX|18782-3^Findings^LN||${text}||||||F`,
	];
	assert.equal(msa(await mllp.send(segments.join('\r'))).code, 'AA');
}

async function search(query: string): Promise<FhirBody[]> {
	const { status, body } = await call('GET', `/DiagnosticReport?${query}`);
	assert.equal(status, 200, JSON.stringify(body));
	return (body.entry ?? []).map(({ resource }: FhirBody) => resource);
}

describe('reports that FHIR clients write, where the site lets them', () => {
	const written = (more: object = {}) => ({
		resourceType: 'DiagnosticReport',
		status: 'final',
		code: { text: 'Written' },
		identifier: [{ type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'FILL' }] }, value: 'CW1' }],
		...more,
	});
	const transaction = (resource: { resourceType: string }) => ({
		resourceType: 'Bundle',
		type: 'transaction',
		entry: [
			{ resource: { resourceType: 'Basic', code: { text: 'first' } }, request: { method: 'POST', url: 'Basic' } },
			{ resource, request: { method: 'POST', url: resource.resourceType } },
		],
	});

	test('otherwise they are refused, and the answer names the setting and the entry', async () => {
		const single = await call('POST', '/DiagnosticReport', written());
		assert.deepEqual([single.status, single.headers.get('allow')], [405, 'GET, HEAD']);
		assert.match(single.text, /report_writes/);
		const { status, body } = await call('POST', '', transaction(written()));
		assert.equal(status, 405);
		assert.match(body.issue[0].diagnostics, /^entry 2: DiagnosticReport .*report_writes/);
		assert.equal(body.issue[0].expression[0], 'Bundle.entry[1]');
		assert.equal((await call('GET', '/Basic?_summary=count')).body.total, 0);
	});

	test('stand beside those of messages and people, and neither side changes the other', async () => {
		await report('F', 'Sent.');
		const [sent, ...others] = await search('identifier=CW1');
		assert.deepEqual([sent.status, others.length], ['final', 0]);
		await setSite(service.administration, { slug: 'west', report_writes: true });
		const study = { subject: sent.subject, imagingStudy: [{ identifier: { system: 'urn:dicom:uid', value: 'urn:oid:1.2.130' } }] };
		let created = await call('POST', '/DiagnosticReport', written(study));
		await eventually(async () => {
			if (created.status === 405) created = await call('POST', '/DiagnosticReport', written(study));
			return created.status === 201;
		}, 'the setting');
		const place = `/DiagnosticReport/${created.body.id}`;
		const updated = await call('PUT', place, { ...written(study), id: created.body.id, conclusion: 'Changed.' });
		assert.deepEqual([updated.status, updated.body.meta.versionId], [200, '2']);
		const patched = await call('PATCH', place, [{ op: 'replace', path: '/conclusion', value: 'Patched.' }]);
		assert.deepEqual([patched.status, patched.body.conclusion], [200, 'Patched.']);
		assert.equal((await search('identifier=CW1')).length, 2);

		for (const text of ['Sent again.', 'And again.']) await report('C', text);
		await sendImages(service.port('dimse'), 'WEST', [
			{ studyUid: '1.2.130', seriesUid: '1.2.130.1', sopInstanceUid: '1.2.130.1.1', patientId: '130' },
		]);
		assert.equal((await call('GET', place)).text, patched.text);
		await assert.rejects(completeReport(service.administration, created.body.id), /a FHIR client wrote the report/);
		const edit = amendReportInput.parse({ id: created.body.id, text: 'Edited.' });
		await assert.rejects(amendReport(service.administration, edit), /a FHIR client wrote the report/);

		const own = (await call('GET', `/DiagnosticReport/${sent.id}`)).body;
		assert.equal((await call('PUT', `/DiagnosticReport/${sent.id}`, own)).body.meta.versionId, own.meta.versionId);
		const refused = await call('PUT', `/DiagnosticReport/${sent.id}`, { ...own, conclusion: 'Not theirs.' });
		assert.equal(refused.status, 409, refused.text);
		assert.match(refused.text, /clients change only what clients wrote/);
		assert.equal((await call('PATCH', `/DiagnosticReport/${sent.id}`, [{ op: 'add', path: '/conclusion', value: 'x' }])).status, 409);
		assert.equal(
			(await call('GET', `/DiagnosticReport/${sent.id}`)).text,
			(await call('GET', `/DiagnosticReport/${sent.id}/_history/${own.meta.versionId}`)).text,
		);
	});
});
