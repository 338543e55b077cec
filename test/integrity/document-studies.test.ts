import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { clinicalDocument, grace } from '#test/support/cda.ts';
import { sampleDataSet } from '#test/support/data-set.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { associateRequest, connect, data, statusOf, store, value } from '../surfaces/dimse/peer.ts';

let service: TestService;
let key: string;

before(async () => {
	service = await testService();
	key = (await service.addSite('west')).key;
	await setSite(service.administration, { slug: 'west', ae_title: 'WEST' });
});
after(() => service[Symbol.asyncDispose]());

const dicom = 'codeSystem="1.2.840.10008.2.16.4"';
const catalog = (uid: string) =>
	`<component><section><code code="121181" ${dicom}/><entry><act classCode="ACT" moodCode="EVN"><id root="${uid}"/>` +
	`<code code="113014" ${dicom}/></act></entry></section></component>`;
const order = (accession: string) => `<inFulfillmentOf><order><id root="1.9.9" extension="${accession}"/></order></inFulfillmentOf>`;

async function send(patient: string, version: number, { uid, accession }: { uid?: string; accession?: string }): Promise<void> {
	const body = clinicalDocument({
		id: `root="1.2.3.4" extension="${patient}.${version}"`,
		set: `root="1.2.3.5" extension="${patient}"`,
		version,
		patients: [grace(patient).replace('root="1.2.3"', 'assigningAuthorityName="HOSPITAL"')],
		participants: accession === undefined ? '' : order(accession),
		body:
			`<component><structuredBody>${uid === undefined ? '' : catalog(uid)}<component><section><code code="121070" ${dicom}/>` +
			`<title>Findings</title><text>Clear.</text></section></component></structuredBody></component>`,
	}).replace('34133-9', '18748-4');
	const answer = await fetch(`http://127.0.0.1:${service.port('hl7')}/v3/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': 'application/xml' },
		body,
	});
	assert.equal(answer.status, 200, await answer.text());
}

let instances = 0;
async function storeInstance(context: TestContext, given: { studyUid: string; patientId: string; accessionNumber?: string }) {
	const number = ++instances;
	let peer = await connect(context, service.port('dimse'));
	await eventually(async () => {
		const [answer] = await peer.ask(associateRequest({ called: 'WEST' }));
		if (answer?.type === 2) return true;
		peer = await connect(context, service.port('dimse'));
		return false;
	}, 'the association');
	const dataSet = sampleDataSet({ ...given, sopInstanceUid: `1.2.3.${number}`, seriesUid: `${given.studyUid}.1` });
	const [answer] = await peer.ask(data(value(3, 'command', store(number)), value(3, 'data', dataSet)));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0);
	peer.socket.end();
}

async function reportOf(patient: string): Promise<FhirBody> {
	const { body } = await service.fhir(`/fhir/DiagnosticReport?patient.identifier=${patient}`, key);
	assert.equal(body.total, 1, JSON.stringify(body));
	return body.entry[0].resource;
}

for (const [name, uid, named] of [
	['its UID', '1.2.70', { uid: '1.2.70' }],
	['the number of its order', '1.2.71', { accession: 'ACC71' }],
] as const) {
	test(`images that arrive after the document of their report find it by ${name}`, async (context) => {
		const patient = `D${uid}`;
		await send(patient, 1, named);
		const before = await reportOf(patient);
		assert.equal(before.imagingStudy?.[0].reference, undefined);
		await storeInstance(context, { studyUid: `${uid}.9`, patientId: `${patient}-other`, accessionNumber: 'ACC71' });
		assert.equal((await reportOf(patient)).meta.versionId, '1');
		for (let times = 0; times < 2; times++) await storeInstance(context, { studyUid: uid, patientId: patient, accessionNumber: 'ACC71' });
		const [study] = await service.rows<{ id: string }>('select id from imaging_study where study_uid = $1', [uid]);
		const joined = [
			{
				reference: `ImagingStudy/${study?.id}`,
				type: 'ImagingStudy',
				identifier: { system: 'urn:dicom:uid', value: `urn:oid:${uid}` },
			},
		];
		const after = await reportOf(patient);
		assert.deepEqual([after.id, after.meta.versionId, after.imagingStudy], [before.id, '2', joined]);
		const { body } = await service.fhir(`/fhir/DiagnosticReport?imaging-study=ImagingStudy/${study?.id}`, key);
		assert.equal(body.total, 1);
		await send(patient, 2, named);
		assert.deepEqual((await reportOf(patient)).imagingStudy, joined);
	});
}
