import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { addClient } from '#administration/clients.ts';
import { listIdentity } from '#administration/identity-work.ts';
import { searchPatients } from '#administration/patients.ts';
import { setSite } from '#administration/sites.ts';
import { showStudy } from '#administration/studies.ts';
import { assignStudy, moveStudy, undoStudy } from '#administration/study-edits.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { ctStorage, element } from '#test/support/data-set.ts';
import { eventually } from '#test/support/eventually.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { type GivenImage, imageDataSet, opened } from '#test/support/images.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { StorageScu } from '#test/support/storage-scu.ts';
import { associate } from '#test/surfaces/dimse/peer.ts';
import { allResponses, ask, identifier, studyFind } from '#test/surfaces/dimse/questions.ts';
import { dicomWebClient } from '../surfaces/dicomweb/client.ts';

/** Patient ID is type 2 (PS3.3 C.7.1.1): an unidentified patient has none, and what else the images state is all that is known. */

let service: TestService;
let key: string;
let scu: StorageScu;
let messages = 0;

before(async () => {
	service = await testService();
	({ key } = await service.addSite('west'));
	await opened(service, 'west');
	const client = { site: 'west', protocols: ['dicom' as const], allowed_ips: ['127.0.0.1'] };
	await addClient(service.administration, { ...client, name: 'modality', calling_ae: 'MODALITY' });
	await addClient(service.administration, { ...client, name: 'finder', calling_ae: 'FINDER', grants: ['query'] });
	await eventually(async () => {
		scu = await StorageScu.open(service.port('dimse'), { called: 'WEST', calling: 'MODALITY' });
		return true;
	}, 'the modality is known');
});

after(async () => {
	scu[Symbol.dispose]();
	await service[Symbol.asyncDispose]();
});

const context = () => ({ ...service.administration, visibleSites: ['west'] });
const trauma = { patientId: '', patientName: 'Unknown^Trauma', birthDate: '19700101', sex: 'M' };

async function send(studyUid: string, number: number, image: Partial<GivenImage> = {}): Promise<number | undefined> {
	const sopInstanceUid = `${studyUid}.${number}`;
	const dataSet = imageDataSet({ studyUid, seriesUid: `${studyUid}.0`, sopInstanceUid, modality: 'CT', ...image });
	return (await scu.store({ sopClassUid: ctStorage, sopInstanceUid, transferSyntaxUid: explicitLittleEndian, dataSet })).status;
}

async function admit(number: string, authority: string, name: string): Promise<void> {
	const head = `MSH|^~\\&|ADT|W|||20260105101500||ADT^A04|${++messages}|P|2.5.1`;
	const { status } = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
		body: [head, `PID|1||${number}^^^${authority}^MR||${name}||19700101|F`].join('\r'),
	});
	assert.equal(status, 200);
}

/** What QIDO-RS answers at a level. */
async function qido(path: string): Promise<FhirBody[]> {
	const { bytes, json } = await dicomWebClient(service, key).get(path);
	return bytes.length === 0 ? [] : (json() as unknown as FhirBody[]);
}
const studies = async (query: string) => (await qido(`/studies?${query}`)).map((study) => study['0020000D'].Value[0]);

/** Name, birth date, sex and number, as QIDO-RS has them of a study. */
async function person(studyUid: string): Promise<(string | undefined)[]> {
	const [study] = await qido(`/studies?StudyInstanceUID=${studyUid}`);
	const [name, ...others] = ['00100010', '00100030', '00100040', '00100020'].map((tag) => study?.[tag]?.Value?.[0]);
	return [name?.Alphabetic, ...others];
}

/** The data sets of the matches of a C-FIND. */
async function find(test: TestContext, model: string, level: string, ...keys: Parameters<typeof identifier>): Promise<Buffer[]> {
	const contexts: Record<number, [string, ...string[]]> = { 1: [model, explicitLittleEndian] };
	const peer = await associate(test, service.port('dimse'), { called: 'WEST', calling: 'FINDER', contexts });
	const question = ask(1, identifier([0x0008_0052, 'CS', level], ...keys));
	// The request names the model of its presentation context.
	peer.write(model === studyFind ? question : Buffer.from(question.toString('latin1').replace(studyFind, model), 'latin1'));
	return (await allResponses(peer)).flatMap(({ dataSet }) => (dataSet ? [dataSet] : []));
}

async function doubts(studyUid: string): Promise<string[]> {
	const { doubts: found } = (await listIdentity(context(), { site: 'west', kind: 'doubt', limit: 100 } as never)) as {
		doubts?: { kind: string; study_uid: string | null; count: number; text: string }[];
	};
	return (found ?? []).filter(({ study_uid: uid }) => uid === studyUid).map(({ kind, count, text }) => `${count} ${kind}: ${text}`);
}
const unmatched = (count: number) => [`${count} unmatched-study: the study is stored without a patient: its images state no Patient ID`];

const fhir = (path: string) => fhirClient(service, key)('GET', path).then(({ body }) => body as FhirBody);
const idOf = async (number: string) =>
	(await searchPatients(context(), { site: 'west', text: number, limit: 10 }))[0]?.id ?? assert.fail(number);

describe('a study of somebody without a Patient ID', () => {
	test('is matched by what its images state of them, and answered with it, by QIDO-RS and C-FIND', async (t) => {
		for (const number of [1, 2]) assert.equal(await send('1.10', number, trauma), 0);
		await admit('K1', 'HOSP', 'Unknown^Trude');
		assert.equal(await send('1.11', 1, { patientId: 'K1', patientIssuer: 'HOSP' }), 0);
		assert.deepEqual(await person('1.10'), ['Unknown^Trauma', '19700101', 'M', undefined]);
		for (const query of ['PatientName=UNKNOWN^TRA*', 'PatientName=unknown^trauma', 'PatientName=trauma&fuzzymatching=true'])
			assert.deepEqual(await studies(query), ['1.10'], query);
		assert.deepEqual(await studies('PatientName=Unknown*'), ['1.10', '1.11']);
		assert.deepEqual(await studies('PatientName=U*&PatientBirthDate=19700101&PatientSex=M'), ['1.10']);
		assert.deepEqual(await studies('PatientBirthDate=19690101-19700101'), ['1.10', '1.11']);
		for (const query of ['PatientName=Unknown^X*', 'PatientSex=O', 'PatientBirthDate=19700102-', 'PatientName=Unknown^Trauma&PatientID=K1'])
			assert.deepEqual(await studies(query), [], query);
		assert.deepEqual(await studies('PatientName=Unknown*&limit=1'), ['1.10']);
		assert.deepEqual(await studies('PatientName=Unknown*&limit=1&offset=1'), ['1.11']);
		assert.equal((await qido('/series?PatientName=Unknown^Trauma')).length, 1);
		assert.equal((await qido('/instances?PatientName=Unknown^Trauma')).length, 2);

		const keys = [
			[0x0010_0010, 'PN', 'Unknown^Tr*'],
			[0x0010_0020, 'LO', ''],
			[0x0010_0030, 'DA', ''],
			[0x0010_0040, 'CS', ''],
		] as [number, string, string][];
		const found = await find(t, studyFind, 'STUDY', ...keys, [0x0020_000d, 'UI', '']);
		assert.equal(found.length, 2);
		const stated = [element(0x0010_0010, 'PN', 'Unknown^Trauma'), element(0x0010_0020, 'LO', ''), element(0x0010_0030, 'DA', '19700101')];
		assert.ok(found[0]?.includes(Buffer.concat([...stated, element(0x0010_0040, 'CS', 'M')])));
		const patientFind = studyFind.replace('.2.2.1', '.2.1.1');
		const patients = await find(t, patientFind, 'PATIENT', ...keys);
		assert.deepEqual([patients.length, patients[0]?.includes(Buffer.from('K1'))], [1, true], 'a patient without a number is none');
	});

	test('is on the work list once, until a person says whose it is; another of the same name stays as it is', async () => {
		for (const uid of ['1.20', '1.21']) for (const number of [1, 2]) assert.equal(await send(uid, number, trauma), 0);
		await admit('K2', 'HOSP', 'Smith^John');
		assert.deepEqual([await doubts('1.20'), await doubts('1.21')], [unmatched(2), unmatched(2)]);
		assert.equal((await fhir('/Patient?name=Trauma')).entry, undefined, 'a name makes no patient');
		const [study] = (await fhir('/ImagingStudy?identifier=urn:dicom:uid|urn:oid:1.20')).entry;
		assert.equal(study.resource.subject.extension[0].valueCode, 'unknown');
		const stated = async () => (await showStudy(context(), { site: 'west', id: '1.20' })).stated_patient;
		assert.deepEqual(await stated(), { id: null, name: 'Unknown^Trauma', birth_date: '1970-01-01', gender: 'male' });
		const { edit } = await assignStudy(context(), { site: 'west', study: '1.20', patient: await idOf('K2') });
		assert.equal(await stated(), null);
		assert.deepEqual(await person('1.20'), ['Smith^John', '19700101', 'F', 'K2']);
		assert.deepEqual([await doubts('1.20'), await doubts('1.21')], [[], unmatched(2)]);
		assert.equal(await send('1.20', 3, trauma), 0, 'a further image belongs to its study');
		assert.deepEqual([await person('1.20'), await doubts('1.20')], [['Smith^John', '19700101', 'F', 'K2'], []]);
		assert.deepEqual(await person('1.21'), ['Unknown^Trauma', '19700101', 'M', undefined]);
		await undoStudy(context(), { site: 'west', edit });
		assert.deepEqual(await person('1.20'), ['Unknown^Trauma', '19700101', 'M', undefined]);
		const undone = '3 unmatched-study: the study is stored without a patient: its assignment to a patient was undone';
		assert.deepEqual(await doubts('1.20'), [undone], 'nobody knows again whose it is');
	});

	test('gets its patient from an image that states a Patient ID, and from none that states another name', async () => {
		assert.equal(await send('1.30', 1, trauma), 0);
		assert.equal(await send('1.30', 2, { ...trauma, patientName: 'Other^Name' }), 0);
		assert.equal((await person('1.30'))[0], 'Unknown^Trauma');
		await admit('K3', 'HOSP', 'Known^Ann');
		assert.equal(await send('1.30', 3, { patientId: 'K3', patientIssuer: 'HOSP' }), 0, 'it is not another patient than nobody');
		assert.deepEqual([await person('1.30'), await doubts('1.30')], [['Known^Ann', '19700101', 'F', 'K3'], []]);
		assert.equal(await send('1.30', 4, { patientId: 'K2', patientIssuer: 'HOSP' }), 0xb000, 'and has this one from then on');
	});

	test('and one of somebody whose Patient ID is in doubt are found alike; the number comes before the name', async () => {
		for (const authority of ['HOSP', 'LAB']) await admit('K4', authority, `Of${authority}^Ann`);
		assert.equal(await send('1.40', 1, { ...trauma, patientName: 'Nobody^Bea' }), 0);
		assert.equal(await send('1.40', 2, { patientId: 'K4', patientName: 'Doubtful^Cay', sex: 'F' }), 0);
		assert.deepEqual(await person('1.40'), ['Doubtful^Cay', undefined, 'F', undefined]);
		assert.deepEqual(await studies('PatientName=Doubtful*&PatientSex=F'), ['1.40']);
		assert.match((await doubts('1.40')).join(), /several patients have the Patient ID/);
		assert.equal(await send('1.40', 3, trauma), 0);
		assert.match((await doubts('1.40')).join(), /several patients have the Patient ID/, 'what is known better stays listed');
		assert.equal(await send('1.40', 4, { patientId: 'K5' }), 0xb000, 'and another number is another patient');
	});

	test('keeps it when its images go to another study and return', async () => {
		for (const uid of ['1.50', '1.51']) assert.equal(await send(uid, 1, { ...trauma, patientName: `Lost^${uid.slice(2)}` }), 0);
		const { edit } = await moveStudy(context(), { site: 'west', study: '1.50', to: '1.51', series: [], instances: [] });
		assert.deepEqual(await studies('PatientName=Lost*'), ['1.51']);
		await undoStudy(context(), { site: 'west', edit });
		assert.deepEqual(await person('1.50'), ['Lost^50', '19700101', 'M', undefined]);
	});

	test('states what an image does that replaces its content', async (t: TestContext) => {
		await setSite(context(), { slug: 'west', instance_policy: 'replace' });
		t.after(() => setSite(context(), { slug: 'west', instance_policy: 'keep' }));
		assert.equal(await send('1.60', 1, trauma), 0);
		assert.equal(await send('1.60', 1, { ...trauma, patientName: 'Found^Name', sex: 'F' }), 0);
		assert.deepEqual(await person('1.60'), ['Found^Name', '19700101', 'F', undefined]);
		await admit('K6', 'HOSP', 'Wrong^Ann');
		assert.equal(await send('1.61', 1, { patientId: 'K6', patientIssuer: 'HOSP' }), 0);
		assert.equal(await send('1.61', 1, trauma), 0);
		assert.deepEqual([await person('1.61'), await doubts('1.61')], [['Unknown^Trauma', '19700101', 'M', undefined], unmatched(1)]);
	});
});

describe('a study of nobody', () => {
	test('is in no doubt until an image names somebody', async () => {
		for (const image of [{}, { patientId: '', patientName: '', sex: 'O' }, { patientName: '^' }])
			assert.equal(await send('1.70', Object.keys(image).length, image), 0);
		assert.deepEqual([await person('1.70'), await doubts('1.70')], [[undefined, undefined, undefined, undefined], []]);
		assert.deepEqual(await studies('StudyInstanceUID=1.70'), ['1.70']);
		assert.equal(await send('1.70', 9, trauma), 0);
		assert.deepEqual([await person('1.70'), await doubts('1.70')], [['Unknown^Trauma', '19700101', 'M', undefined], unmatched(1)]);
	});
});
