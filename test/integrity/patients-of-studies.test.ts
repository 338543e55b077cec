import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { conflictRow, listConflicts, settleConflict, showConflict } from '#administration/conflicts.ts';
import { listIdentity } from '#administration/identity-work.ts';
import { setSite } from '#administration/sites.ts';
import { part10Head } from '#dicom/part10.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { ctStorage } from '#test/support/data-set.ts';
import { dicomFile, run, temporaryFolder } from '#test/support/dcmtk.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { type GivenImage, imageDataSet, opened } from '#test/support/images.ts';
import { without } from '#test/support/needs.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { StorageScu } from '#test/support/storage-scu.ts';
import { dicomWebClient } from '../surfaces/dicomweb/client.ts';

let service: TestService;
let key: string;
let siteId: string;
let messages = 0;
let scu: StorageScu;

before(async () => {
	service = await testService();
	const { key: made, site } = await service.addSite('west');
	key = made;
	siteId = site.id;
	await opened(service, 'west');
	scu = await StorageScu.open(service.port('dimse'), { called: 'WEST' });
});

after(async () => {
	scu[Symbol.dispose]();
	await service[Symbol.asyncDispose]();
});

type Image = Pick<GivenImage, 'studyUid' | 'sopInstanceUid'> & Partial<GivenImage>;

const dataSetOf = (image: Image) => imageDataSet({ seriesUid: `${image.studyUid}.0`, modality: 'CT', ...image });

/** The status of a C-STORE. */
async function send(image: Image): Promise<number | undefined> {
	const { sopInstanceUid } = image;
	const dataSet = dataSetOf(image);
	return (await scu.store({ sopClassUid: ctStorage, sopInstanceUid, transferSyntaxUid: explicitLittleEndian, dataSet })).status;
}

async function hl7(type: string, ...segments: string[]): Promise<void> {
	const text = [`MSH|^~\\&|ADT|W|||20260105101500||${type}|${++messages}|P|2.5.1`, 'EVN||20260105', ...segments].join('\r');
	const { status } = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
		body: text,
	});
	assert.equal(status, 200, type);
}

const person = (number: string, authority: string, name: string) => `PID|1||${number}^^^${authority}^MR||${name}||19700101|F`;

/** What FHIR, QIDO-RS and the index say of a study: the family name of its patient, and its instances. */
async function seen(studyUid: string): Promise<{ patient: string | undefined; instances: number } | undefined> {
	const { body } = await fhirClient(service, key)(
		'GET',
		`/ImagingStudy?identifier=urn:dicom:uid|urn:oid:${studyUid}&_include=ImagingStudy:subject`,
	);
	const resources = ((body as FhirBody).entry ?? []).map(({ resource }: FhirBody) => resource);
	const study = resources.find(({ resourceType }: FhirBody) => resourceType === 'ImagingStudy');
	const patient = resources.find(({ resourceType }: FhirBody) => resourceType === 'Patient');
	const found = await dicomWebClient(service, key).get(`/studies?StudyInstanceUID=${studyUid}&includefield=00201208`);
	const [qido] = found.status === 204 || found.bytes.length === 0 ? [] : found.json();
	if (study === undefined) {
		assert.equal(qido, undefined);
		return undefined;
	}
	const name = patient?.name?.[0]?.family as string | undefined;
	assert.equal(qido['00100010']?.Value?.[0]?.Alphabetic?.split('^')[0], name, 'QIDO-RS and FHIR agree about the patient');
	assert.equal(qido['00201208'].Value[0], study.numberOfInstances);
	return { patient: name, instances: study.numberOfInstances };
}

const context = () => ({ ...service.administration, visibleSites: ['west'] });

async function doubts(studyUid: string) {
	const { doubts: found } = (await listIdentity(context(), { site: 'west', kind: 'doubt', limit: 100 } as never)) as {
		doubts?: { kind: string; study_uid: string | null; count: number }[];
	};
	return (found ?? []).filter(({ study_uid: uid }) => uid === studyUid).map(({ kind, count }) => `${count} ${kind}`);
}

describe('a doubt about whose image it is', { timeout: 120_000 }, () => {
	test('does not refuse it: a known study keeps its patient, a new one has none until a merge settles it', async () => {
		await hl7('ADT^A04', person('M7', 'HOSP', 'First^Ann'));
		for (const number of [0, 1, 2]) assert.equal(await send({ studyUid: '1.7', sopInstanceUid: `1.7.${number}`, patientId: 'M7' }), 0);
		await hl7('ADT^A04', person('M7', 'LAB', 'Second^Bea'));
		for (const number of [3, 4, 5]) assert.equal(await send({ studyUid: '1.7', sopInstanceUid: `1.7.${number}`, patientId: 'M7' }), 0);
		assert.deepEqual(await seen('1.7'), { patient: 'First', instances: 6 });
		assert.deepEqual(await doubts('1.7'), []);

		for (const number of [0, 1]) assert.equal(await send({ studyUid: '1.8', sopInstanceUid: `1.8.${number}`, patientId: 'M7' }), 0);
		assert.deepEqual(await seen('1.8'), { patient: undefined, instances: 2 });
		assert.deepEqual(await doubts('1.8'), ['2 unmatched-study']);
		await hl7('ADT^A40', person('M7', 'HOSP', 'First^Ann'), 'MRG|M7^^^LAB^MR');
		assert.deepEqual(await seen('1.8'), { patient: 'First', instances: 2 });
		assert.deepEqual(await doubts('1.8'), []);
	});

	test('is settled by a report that names the study and its patient, whichever comes first, and by an image that names the issuer', async () => {
		for (const authority of ['HOSP', 'LAB']) await hl7('ADT^A04', person('M9', authority, `Of${authority}^Ann`));
		const report = (filler: string, accession: string, uid?: string) =>
			hl7(
				'ORU^R01',
				person('M9', 'LAB', 'OfLAB^Ann'),
				`OBR|1||${filler}|CT^CT^L||||||||||||||${accession}|||||||F`,
				...(uid === undefined ? [] : [`ZDS|${uid}^100^Application^DICOM`]),
				'OBX|1|TX|GDT^Text^L||No bleeding.||||||F',
			);
		assert.equal(await send({ studyUid: '1.9', sopInstanceUid: '1.9.1', patientId: 'M9' }), 0);
		assert.equal((await seen('1.9'))?.patient, undefined);
		await report('F9', '', '1.9');
		assert.equal((await seen('1.9'))?.patient, 'OfLAB');
		await report('F10', '', '1.10');
		assert.equal(await send({ studyUid: '1.10', sopInstanceUid: '1.10.1', patientId: 'M9' }), 0);
		assert.equal((await seen('1.10'))?.patient, 'OfLAB');
		assert.equal(await send({ studyUid: '1.11', sopInstanceUid: '1.11.1', patientId: 'M9', accession: 'ACC-11' }), 0);
		await report('F11', 'ACC-11');
		assert.equal((await seen('1.11'))?.patient, 'OfLAB');
		assert.equal(await send({ studyUid: '1.12', sopInstanceUid: '1.12.1', patientId: 'M9' }), 0);
		assert.equal(await send({ studyUid: '1.12', sopInstanceUid: '1.12.2', patientId: 'M9', patientIssuer: 'HOSP' }), 0);
		assert.deepEqual(await seen('1.12'), { patient: 'OfHOSP', instances: 2 });
		for (const uid of ['1.9', '1.10', '1.11', '1.12']) assert.deepEqual(await doubts(uid), [], uid);
	});

	test('does not stop a storescu of several files', { skip: without('dcmtk') }, async () => {
		for (const authority of ['HOSP', 'LAB']) await hl7('ADT^A04', person('M13', authority, `Of${authority}^Ann`));
		using folder = temporaryFolder();
		const files: string[] = [];
		for (const [number, patient] of ['N1', 'M13', 'N2', 'M13'].entries()) {
			files.push(
				await dicomFile(folder.path, `f${number}`, [
					...[`(0008,0016) UI =CTImageStorage`, `(0008,0018) UI [1.13.${number}.1.1]`, `(0010,0020) LO [${patient}]`],
					...[`(0020,000d) UI [1.13.${number}]`, `(0020,000e) UI [1.13.${number}.1]`],
				]),
			);
		}
		const sent = await run('storescu', '-aec', 'WEST', '127.0.0.1', String(service.port('dimse')), ...files);
		assert.equal(sent.code, 0, sent.output);
		const [row] = await service.rows<{ count: number }>(
			`select count(*)::integer from imaging_instance where site_id = $1 and study_uid like '1.13.%'`,
			[siteId],
		);
		assert.equal(row?.count, 4);
	});
});

describe('an image of another patient than its study', { timeout: 120_000 }, () => {
	const foreign = (studyUid: string, number: number, patientId: string): Image => ({
		studyUid,
		sopInstanceUid: `${studyUid}.${number}`,
		patientId,
	});
	const open = async (studyUid: string) =>
		(await listConflicts(context(), { all: false, limit: 100 })).filter(({ study_uid: uid }) => uid === studyUid);

	for (const policy of ['keep', 'replace', 'refuse'] as const) {
		test(`is kept aside with a warning and listed, with the policy ${policy}`, async (t: TestContext) => {
			await setSite(service.administration, { slug: 'west', instance_policy: policy });
			t.after(() => setSite(service.administration, { slug: 'west', instance_policy: 'keep' }));
			const uid = `1.2${policy.length}`;
			assert.equal(await send(foreign(uid, 1, `D1${policy}`)), 0);
			for (const _again of [1, 2]) assert.equal(await send(foreign(uid, 2, `D2${policy}`)), 0xb000);
			assert.equal(await send({ studyUid: uid, sopInstanceUid: `${uid}.3` }), 0, 'an image that names nobody belongs to its study');
			assert.deepEqual(await seen(uid), { patient: 'Name', instances: 2 });
			assert.deepEqual(await doubts(uid), ['2 other-patient']);
			const [conflict, ...more] = await open(uid);
			assert.deepEqual([conflict?.kind, conflict?.stated_patient_id, more], ['other-patient', `D2${policy}`, []]);
			const found = await dicomWebClient(service, key).get(`/studies?PatientID=D2${policy}`);
			assert.deepEqual(found.json(), []);
		});
	}

	test('is split off with the setting of the site', async (t: TestContext) => {
		await setSite(service.administration, { slug: 'west', other_patient: 'split' });
		t.after(() => setSite(service.administration, { slug: 'west', other_patient: 'aside' }));
		assert.equal(await send(foreign('1.31', 1, 'D32')), 0);
		for (const number of [2, 3]) assert.equal(await send(foreign('1.31', number, 'D33')), 0xb000);
		const [split] = (await dicomWebClient(service, key).get('/studies?PatientID=D33')).json();
		const uid = split['0020000D'].Value[0];
		assert.match(uid, /^2\.25\./);
		assert.deepEqual(await seen(uid), { patient: 'Name', instances: 2 });
		assert.deepEqual([(await seen('1.31'))?.instances, await open('1.31')], [1, []]);
		assert.deepEqual(await doubts('1.31'), ['2 other-patient']);
	});

	test('is a warning of STOW-RS', async () => {
		assert.equal(await send(foreign('1.30', 1, 'D30')), 0);
		const sopInstanceUid = '1.30.2';
		const head = part10Head({ sopClassUid: ctStorage, sopInstanceUid, transferSyntaxUid: explicitLittleEndian });
		const answer = await dicomWebClient(service, key).store([Buffer.concat([head, dataSetOf(foreign('1.30', 2, 'D31'))])]);
		assert.deepEqual([answer.status, answer.json()['00081199'].Value[0]['00081196'].Value], [202, [0xb000]]);
		assert.equal((await open('1.30')).length, 1);
	});

	test('is taken into the study or made a study of its own by a person', async () => {
		const later = { ...context(), nowMs: () => Date.now() + 3_600_000 };
		assert.equal(await send(foreign('1.40', 1, 'D40')), 0);
		for (const number of [2, 3, 4]) assert.equal(await send(foreign('1.40', number, 'D41')), 0xb000);
		const waiting = (await open('1.40')).sort((left, right) => (left.sop_instance_uid < right.sop_instance_uid ? -1 : 1));
		const [second, third, fourth] = waiting.map(({ id }) => id);
		assert.ok(second && third && fourth);
		assert.equal((await showConflict(later, await conflictRow(later, second))).stored, null);
		assert.equal((await settleConflict(later, { id: second, keep: 'received' })).settlement, 'received');
		assert.deepEqual(await seen('1.40'), { patient: 'Name', instances: 2 });
		await settleConflict(later, { id: third, keep: 'split' });
		await settleConflict(later, { id: fourth, keep: 'stored' });
		const [row] = await service.rows<{ study_uid: string; stated_study_uid: string }>(
			`select study_uid, stated_study_uid from imaging_instance where site_id = $1 and sop_instance_uid = '1.40.3'`,
			[siteId],
		);
		assert.match(row?.study_uid ?? '', /^2\.25\./);
		assert.deepEqual([row?.stated_study_uid, await seen(row?.study_uid ?? '')], ['1.40', { patient: 'Name', instances: 1 }]);
		assert.deepEqual([await open('1.40'), (await seen('1.40'))?.instances], [[], 2]);
		assert.equal(await send(foreign('1.40', 3, 'D41')), 0, 'what was filed elsewhere comes again');
	});
});
