import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { ctStorage } from '#test/support/data-set.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { hl7Sender, type SendHl7 } from '#test/support/hl7-sender.ts';
import { imageDataSet, opened } from '#test/support/images.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { StorageScu } from '#test/support/storage-scu.ts';

let service: TestService;
let key: string;
let hl7: SendHl7;
let scu: StorageScu;

before(async () => {
	service = await testService();
	({ key } = await service.addSite('west'));
	hl7 = hl7Sender(service, key);
	await opened(service, 'west');
	scu = await StorageScu.open(service.port('dimse'), { called: 'WEST' });
});

after(async () => {
	scu[Symbol.dispose]();
	await service[Symbol.asyncDispose]();
});

const person = (number: string, authority: string) => `PID|1||${number}^^^${authority}^MR||Of${authority}^Ann||19700101|F`;

/** Two people have the number, so an image without an issuer does not tell whose it is. */
async function admitTwo(number: string): Promise<void> {
	for (const authority of ['MRN', 'LAB']) await hl7('ADT^A04', person(number, authority));
}

/** A report of a department. The accession number stands in OBR-18, the filler's number in OBR-3. */
const report = (number: string, accession: string, { filler = `F${accession}`, authority = 'LAB', uid = '' } = {}) =>
	hl7(
		'ORU^R01',
		person(number, authority),
		`OBR|1||${filler}|CT^CT^L||||||||||||||${accession}|||||||F`,
		...(uid === '' ? [] : [`ZDS|${uid}^100^Application^DICOM`]),
		'OBX|1|TX|GDT^Text^L||No bleeding.||||||F',
	);

async function image(studyUid: string, patientId: string, accession: string): Promise<void> {
	const sopInstanceUid = `${studyUid}.1.1`;
	const dataSet = imageDataSet({ studyUid, seriesUid: `${studyUid}.1`, sopInstanceUid, modality: 'CT', patientId, accession });
	const { status } = await scu.store({ sopClassUid: ctStorage, sopInstanceUid, transferSyntaxUid: explicitLittleEndian, dataSet });
	assert.equal(status, 0);
}

/** The family name of the patient of a study, and how many reports refer to the study. */
async function seen(studyUid: string): Promise<[patient: string | undefined, reports: number]> {
	const client = fhirClient(service, key);
	const found = await client('GET', `/ImagingStudy?identifier=urn:dicom:uid|urn:oid:${studyUid}&_include=ImagingStudy:subject`);
	const resources: FhirBody[] = ((found.body as FhirBody).entry ?? []).map(({ resource }: FhirBody) => resource);
	const study = resources.find(({ resourceType }) => resourceType === 'ImagingStudy') ?? assert.fail('there is no such study');
	const patient = resources.find(({ resourceType }) => resourceType === 'Patient');
	const reports = ((await client('GET', '/DiagnosticReport?_count=100')).body as FhirBody).entry ?? [];
	const reference = `ImagingStudy/${study.id}`;
	const referring = reports.filter(({ resource }: FhirBody) =>
		(resource.imagingStudy ?? []).some((one: FhirBody) => one.reference === reference),
	);
	return [patient?.name[0].family, referring.length];
}

describe('a study whose images do not tell which of two patients it belongs to', () => {
	test('gets the patient of the report with its accession number, whichever comes first', async () => {
		await admitTwo('Q1');
		await image('1.21', 'Q1', 'AQ1');
		await report('Q1', 'AQ1');
		await report('Q1', 'AQ2');
		await image('1.22', 'Q1', 'AQ2');
		assert.deepEqual(
			[await seen('1.21'), await seen('1.22')],
			[
				['OfLAB', 1],
				['OfLAB', 1],
			],
		);
	});

	test('gets the patient of the report whose OBR-3 is its accession number, whichever comes first', async () => {
		await admitTwo('Q3');
		await image('1.31', 'Q3', 'AQ31');
		await report('Q3', '', { filler: 'AQ31', authority: 'MRN' });
		await report('Q3', '', { filler: 'AQ32', authority: 'MRN' });
		await image('1.32', 'Q3', 'AQ32');
		assert.deepEqual(
			[await seen('1.31'), await seen('1.32')],
			[
				['OfMRN', 1],
				['OfMRN', 1],
			],
		);
	});

	test('gets none where the reports name both, another study, or a patient without its number', async () => {
		await admitTwo('Q4');
		await report('Q4', 'AQ41', { filler: 'F41L' });
		await report('Q4', 'AQ41', { filler: 'F41M', authority: 'MRN' });
		await report('Q4', 'AQ42', { uid: '1.49' });
		await report('Q5', 'AQ43');
		for (const number of [1, 2, 3]) {
			await image(`1.4${number}`, 'Q4', `AQ4${number}`);
			assert.deepEqual(await seen(`1.4${number}`), [undefined, 0], String(number));
		}
	});

	test('gets the patient of the report that names its UID before that of one with its number', async () => {
		await admitTwo('Q6');
		await report('Q6', 'AQ6', { filler: 'F6L' });
		await report('Q6', 'AQ6', { filler: 'F6M', authority: 'MRN', uid: '1.61' });
		await image('1.61', 'Q6', 'AQ6');
		assert.deepEqual(await seen('1.61'), ['OfMRN', 1]);
	});
});
