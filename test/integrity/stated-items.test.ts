import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { completeReport, reportRow, showReport } from '#administration/reports.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let call: FhirCall;
let mllp: MllpClient;
let controlId = 0;

before(async () => {
	service = await testService();
	const { key } = await service.addSite('west', { also: ['A03', 'A31', 'A37'] });
	call = fhirClient(service, key);
	mllp = await MllpClient.connect(service.port('mllp'));
});

after(async () => {
	mllp?.close();
	await service?.[Symbol.asyncDispose]();
});

/** Sends a message that has to be taken. */
async function send(event: string, ...segments: string[]): Promise<void> {
	const header = `MSH|^~\\&|ADT|HOSP|X|Y|20240101120000+0000||${event}|C${++controlId}|P|2.5.1`;
	const { code, text } = msa(await mllp.send([header, 'EVN||20240101', ...segments].join('\r')));
	assert.equal(code, 'AA', text);
}

async function found(path: string): Promise<FhirBody[]> {
	return ((await call('GET', path)).body.entry ?? []).map(({ resource }: FhirBody) => resource);
}

async function one(path: string): Promise<FhirBody> {
	const [resource, ...others] = await found(path);
	assert.deepEqual(others, []);
	assert.ok(resource, path);
	return resource;
}

const pid = (number: string) => `PID|1||${number}^^^&1.2.3&ISO||Doe^Jane`;
const visit = (number: string) => `PV1|1|I|W1||||||||||||||||${number}`;
const patientOf = async (number: string): Promise<string> => (await one(`/Patient?identifier=${number}`)).id;

describe('what AL1, DG1, PR1, NK1 and PD1 say, read through FHIR', () => {
	test('is created by an ADT^A01, updated by an ADT^A08 and not doubled', async () => {
		await send(
			'ADT^A01',
			pid('100'),
			'PD1||||271^Simon^David',
			'NK1|1|Smith^Bob|SPO|||555',
			visit('V1'),
			'AL1|1|DA|70618^Penicillin^RXNORM|MI|Rash|2019',
			'DG1|1||E11^Diabetes^I10||20240101|A',
			'PR1|1||45380^Colonoscopy^C4||202401011530|D|30',
		);
		const id = await patientOf('100');
		const [allergy, condition, procedure] = [
			await one(`/AllergyIntolerance?patient=${id}`),
			await one(`/Condition?patient=${id}`),
			await one(`/Procedure?patient=${id}`),
		];
		const encounter = await one(`/Encounter?patient=${id}`);
		assert.equal(allergy.patient.reference, `Patient/${id}`);
		assert.equal(condition.subject.reference, `Patient/${id}`);
		assert.equal(condition.encounter.reference, `Encounter/${encounter.id}`);
		assert.equal(procedure.encounter.reference, `Encounter/${encounter.id}`);
		assert.deepEqual(procedure.performedPeriod, { start: '2024-01-01T15:30:00+00:00', end: '2024-01-01T16:00:00+00:00' });
		assert.match(condition.meta.source, /^urn:tributary:mllp:C\d+$/);
		await send(
			'ADT^A08',
			pid('100'),
			'NK1|1|Smith^Eve|CHD',
			visit('V1'),
			'AL1|1||70618^Penicillin^RXNORM|SV',
			'DG1|1||E11^Diabetes^I10|||F',
			'PR1|1||45380^Colonoscopy^C4|Colonoscopy, short|202401011530',
		);
		const later = [
			await one(`/AllergyIntolerance?patient=${id}`),
			await one(`/Condition?patient=${id}`),
			await one(`/Procedure?patient=${id}`),
		];
		assert.deepEqual(
			later.map((resource) => [resource.id, resource.meta.versionId]),
			[allergy, condition, procedure].map((resource) => [resource.id, '2']),
		);
		assert.deepEqual([later[0].criticality, later[0].category, later[0].onsetDateTime], ['high', ['medication'], '2019']);
		assert.equal(later[1].verificationStatus.coding[0].code, 'confirmed');
		assert.equal(later[2].code.text, 'Colonoscopy, short');
		const patient = (await call('GET', `/Patient/${id}`)).body;
		assert.deepEqual(
			patient.contact.map((contact: FhirBody) => contact.name.text),
			['Eve Smith'],
		);
		assert.equal(patient.generalPractitioner[0].display, 'David Simon');
	});

	test('the same message under another control id makes no new version of anything', async () => {
		const segments = [pid('150'), 'NK1|1|A', visit('V150'), 'AL1|1|DA|P^^L', 'DG1|1||E11^^I10|||A', 'PR1|1||1^^C4||2024'];
		await send('ADT^A01', ...segments);
		await send('ADT^A01', ...segments);
		const id = await patientOf('150');
		for (const type of ['AllergyIntolerance', 'Condition', 'Procedure', 'Encounter'])
			assert.equal((await one(`/${type}?patient=${id}`)).meta.versionId, '1', type);
		assert.equal((await call('GET', `/Patient/${id}`)).body.meta.versionId, '1');
	});

	test('a FHIR client’s change of it is kept, and it is still the one that the next message means', async () => {
		await send('ADT^A01', pid('200'), 'AL1|1|FA|N^Nut^L', 'DG1|1||J45^Asthma^I10');
		const id = await patientOf('200');
		const condition = await one(`/Condition?patient=${id}`);
		const changed = { ...condition, meta: undefined, note: [{ text: 'seen' }], code: { text: 'Asthma, mild' } };
		assert.equal((await call('PUT', `/Condition/${condition.id}`, changed)).status, 200);
		await send('ADT^A31', pid('200'), 'DG1|1||J45^Asthma^I10||2020');
		const after = await one(`/Condition?patient=${id}`);
		assert.deepEqual([after.id, after.meta.versionId], [condition.id, '3']);
		assert.deepEqual([after.note, after.onsetDateTime, after.code.text], [[{ text: 'seen' }], '2020', 'Asthma']);
	});

	test('a patient whose id a FHIR client chose is the one that they are about', async () => {
		const identifier = [{ system: 'urn:oid:1.2.3', value: '300' }];
		assert.equal((await call('PUT', '/Patient/own-300', { resourceType: 'Patient', identifier })).status, 201);
		await send('ADT^A08', pid('300'), 'AL1|1|DA|P^^L', 'DG1|1||E11^^I10', 'PR1|1||1^^C4');
		assert.equal((await one('/AllergyIntolerance?patient=own-300')).patient.reference, 'Patient/own-300');
		assert.equal((await one('/Condition?patient=Patient/own-300')).subject.reference, 'Patient/own-300');
		assert.equal((await one('/Procedure?patient=own-300')).subject.reference, 'Patient/own-300');
	});

	test('moves with a merge, is updated under either number, and goes back with its undoing', async () => {
		await send('ADT^A01', pid('400'), 'AL1|1|DA|OLD^^L', 'DG1|1||E11^^I10', 'PR1|1||1^^C4');
		await send('ADT^A01', pid('500'), 'AL1|1|DA|NEW^^L');
		const [prior, survivor] = [await patientOf('400'), await patientOf('500')];
		await send('ADT^A40', pid('500'), 'MRG|400^^^&1.2.3&ISO');
		assert.equal((await found(`/AllergyIntolerance?patient=${survivor}`)).length, 2);
		for (const type of ['Condition', 'Procedure'])
			assert.equal((await one(`/${type}?patient=${survivor}`)).subject.reference, `Patient/${survivor}`);
		// A search that names the prior patient means the survivor.
		for (const type of ['AllergyIntolerance', 'Condition', 'Procedure'])
			assert.deepEqual(await found(`/${type}?patient=${prior}`), await found(`/${type}?patient=${survivor}`));
		await send('ADT^A08', pid('400'), 'DG1|1||E11^^I10||2020', 'AL1|1|FA|OLD^^L');
		await send('ADT^A08', pid('500'), 'DG1|1||E11^^I10|||F');
		const condition = await one(`/Condition?patient=${survivor}`);
		assert.deepEqual([condition.onsetDateTime, condition.verificationStatus.coding[0].code], ['2020', 'confirmed']);
		assert.equal((await found(`/AllergyIntolerance?patient=${survivor}`)).length, 2);
		await send('ADT^A37', pid('400'), pid('500'));
		assert.equal((await one(`/Condition?patient=${prior}`)).id, condition.id);
		assert.equal((await one(`/AllergyIntolerance?patient=${survivor}`)).code.coding[0].code, 'NEW');
	});

	test('is withdrawn by an action code, and one that was never stated is not made', async () => {
		await send('ADT^A01', pid('600'), 'DG1|1||E11^^I10|||||||||||||||||D1^CLIN', 'PR1|1||1^^C4');
		await send(
			'ADT^A08',
			pid('600'),
			'DG1|1|||||||||||||||||||D1^CLIN|D',
			'PR1|1||1^^C4|||||||||||||||||D',
			'DG1|2||X^^I10||||||||||||||||||D',
		);
		const id = await patientOf('600');
		const condition = await one(`/Condition?patient=${id}`);
		assert.equal(condition.verificationStatus.coding[0].code, 'entered-in-error');
		assert.equal(condition.clinicalStatus, undefined);
		assert.equal((await one(`/Procedure?patient=${id}`)).status, 'entered-in-error');
	});

	test('refuses no message, however bad it is', async () => {
		await send('ADT^A08', pid('700'), 'AL1|1|QQ|""|QQ|', 'DG1|1|||||ZZ', 'PR1|x|||||', 'NK1|1||MTH', 'AL1|2|QQ|P^^L|QQ||never');
		const allergy = await one(`/AllergyIntolerance?patient=${await patientOf('700')}`);
		assert.equal(allergy.code.coding[0].code, 'P');
		assert.equal(allergy.onsetDateTime, undefined);
		const [logged] = await service.rows<{ flags: unknown }>(
			`select flags from message_log order by received_at desc, sequence desc limit 1`,
		);
		assert.match(JSON.stringify(logged?.flags), /segment-skipped/);
	});
});

describe('a visit without a number, read through FHIR', () => {
	test('is the open one of the patient, whatever number that has', async () => {
		await send('ADT^A01', pid('810'), 'PV1|1|I|W1');
		await send('ADT^A01', pid('810'), 'PV1|1|I|W2');
		const id = await patientOf('810');
		const begun = await one(`/Encounter?patient=${id}`);
		assert.deepEqual([begun.status, begun.location[0].location.display], ['in-progress', 'W2']);
		await send('ADT^A03', pid('810'), 'PV1|1|I|W2');
		assert.equal((await one(`/Encounter?patient=${id}`)).status, 'finished');
		await send('ADT^A01', pid('811'), visit('V811'));
		await send('ADT^A03', pid('811'), 'PV1|1|I|W1');
		const numbered = await one(`/Encounter?patient=${await patientOf('811')}`);
		assert.deepEqual([numbered.status, numbered.identifier[0].value], ['finished', 'V811']);
	});

	test('gets the number that comes with a later message, also where PV1-44 was all that there was', async () => {
		const admitted = (number: string) => `PV1|1|I|W1${'|'.repeat(16)}${number}${'|'.repeat(25)}202401010800`;
		for (const [patient, first, then] of [
			['812', 'PV1|1|I|W1', visit('V812')],
			['813', admitted(''), admitted('V813')],
		] as const) {
			await send('ADT^A01', pid(patient), first);
			await send('ADT^A08', pid(patient), then);
			await send('ADT^A03', pid(patient), first);
			const known = await one(`/Encounter?patient=${await patientOf(patient)}`);
			assert.deepEqual([known.status, known.identifier[0].value], ['finished', `V${patient}`]);
		}
	});
});

describe('a report of a laboratory', () => {
	test('shows its results, and is completed by the laboratory alone', async () => {
		const measured = 'OBX|1|NM|718-7^Hemoglobin^LN||12.1|g/dL|13-17|L|||P';
		await send('ORU^R01', pid('820'), `OBR|1||LAB820|CBC^Blood count^L${'|'.repeat(20)}HM|P`, measured);
		const { id } = await one('/DiagnosticReport?identifier=LAB820');
		const shown = await showReport(service.administration, await reportRow(service.administration, id));
		assert.equal(shown.from_message, true);
		assert.deepEqual(
			shown.results.map(({ name, value, status }) => [name, value, status]),
			[['Hemoglobin', '12.1 g/dL', 'preliminary']],
		);
		await assert.rejects(completeReport(service.administration, id), /the report came with a message/);
		assert.equal((await one('/DiagnosticReport?identifier=LAB820')).status, 'preliminary');
	});
});
