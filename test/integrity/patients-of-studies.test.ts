import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { conflictRow, listConflicts, settleConflict, showConflict } from '#administration/conflicts.ts';
import { mergePatients, unmergePatients } from '#administration/identity.ts';
import { listIdentity } from '#administration/identity-work.ts';
import { searchPatients } from '#administration/patients.ts';
import { addReport } from '#administration/reports.ts';
import { setSite } from '#administration/sites.ts';
import { showStudy } from '#administration/studies.ts';
import { assignStudy, listStudyEditsOf, moveStudy, previewStudy, splitStudy, undoStudy } from '#administration/study-edits.ts';
import { part10Head } from '#dicom/part10.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { ctStorage } from '#test/support/data-set.ts';
import { dicomFile, run, temporaryFolder } from '#test/support/dcmtk.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { hl7Sender, type SendHl7 } from '#test/support/hl7-sender.ts';
import { type GivenImage, imageDataSet, opened } from '#test/support/images.ts';
import { without } from '#test/support/needs.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { StorageScu } from '#test/support/storage-scu.ts';
import { dicomWebClient } from '../surfaces/dicomweb/client.ts';

let service: TestService;
let key: string;
let siteId: string;
let hl7: SendHl7;
let scu: StorageScu;

before(async () => {
	service = await testService();
	const { key: made, site } = await service.addSite('west');
	key = made;
	hl7 = hl7Sender(service, key);
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

function stow(image: Image) {
	const head = part10Head({ sopClassUid: ctStorage, sopInstanceUid: image.sopInstanceUid, transferSyntaxUid: explicitLittleEndian });
	return dicomWebClient(service, key).store([Buffer.concat([head, dataSetOf(image)])]);
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
	const [human] = (patient?.name ?? []) as { family: string; given: string[] }[];
	const name = human && `${human.family}^${human.given[0]}`;
	if (name) assert.equal(qido['00100010']?.Value?.[0]?.Alphabetic, name, 'QIDO-RS and FHIR agree about the patient');
	assert.equal(qido['00201208'].Value[0], study.numberOfInstances);
	const shown = await showStudy(context(), { site: 'west', id: studyUid });
	assert.deepEqual([shown.patient, shown.instances], [patient?.id ?? null, study.numberOfInstances], 'the console shows the same');
	return { patient: name, instances: study.numberOfInstances };
}

const context = () => ({ ...service.administration, visibleSites: ['west'] });

async function doubts(studyUid: string) {
	const { doubts: found } = (await listIdentity(context(), { site: 'west', kind: 'doubt', limit: 100 } as never)) as {
		doubts?: { kind: string; study_uid: string | null; count: number }[];
	};
	return (found ?? []).filter(({ study_uid: uid }) => uid === studyUid).map(({ kind, count }) => `${count} ${kind}`);
}

describe('a doubt about whose image it is', () => {
	test('does not refuse it: a known study keeps its patient, a new one has none until a merge settles it', async () => {
		await hl7('ADT^A04', person('M7', 'HOSP', 'First^Ann'));
		for (const number of [0, 1, 2]) assert.equal(await send({ studyUid: '1.7', sopInstanceUid: `1.7.${number}`, patientId: 'M7' }), 0);
		await hl7('ADT^A04', person('M7', 'LAB', 'Second^Bea'));
		for (const number of [3, 4, 5]) assert.equal(await send({ studyUid: '1.7', sopInstanceUid: `1.7.${number}`, patientId: 'M7' }), 0);
		assert.deepEqual(await seen('1.7'), { patient: 'First^Ann', instances: 6 });
		assert.deepEqual(await doubts('1.7'), []);

		for (const number of [0, 1]) assert.equal(await send({ studyUid: '1.8', sopInstanceUid: `1.8.${number}`, patientId: 'M7' }), 0);
		assert.deepEqual(await seen('1.8'), { patient: undefined, instances: 2 });
		assert.deepEqual(await doubts('1.8'), ['2 unmatched-study']);
		await hl7('ADT^A40', person('M7', 'HOSP', 'First^Ann'), 'MRG|M7^^^LAB^MR');
		assert.deepEqual(await seen('1.8'), { patient: 'First^Ann', instances: 2 });
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
		assert.equal((await seen('1.9'))?.patient, 'OfLAB^Ann');
		await report('F10', '', '1.10');
		assert.equal(await send({ studyUid: '1.10', sopInstanceUid: '1.10.1', patientId: 'M9' }), 0);
		assert.equal((await seen('1.10'))?.patient, 'OfLAB^Ann');
		assert.equal(await send({ studyUid: '1.11', sopInstanceUid: '1.11.1', patientId: 'M9', accession: 'ACC-11' }), 0);
		await report('F11', 'ACC-11');
		assert.equal((await seen('1.11'))?.patient, 'OfLAB^Ann');
		assert.equal(await send({ studyUid: '1.12', sopInstanceUid: '1.12.1', patientId: 'M9' }), 0);
		assert.equal(await send({ studyUid: '1.12', sopInstanceUid: '1.12.2', patientId: 'M9', patientIssuer: 'HOSP' }), 0);
		assert.deepEqual(await seen('1.12'), { patient: 'OfHOSP^Ann', instances: 2 });
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

describe('an image of another patient than its study', () => {
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
			assert.deepEqual(await seen(uid), { patient: `Name^D1${policy}`, instances: 2 });
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
		assert.deepEqual(await seen(uid), { patient: 'Name^D33', instances: 2 });
		assert.deepEqual([(await seen('1.31'))?.instances, await open('1.31')], [1, []]);
		assert.deepEqual(await doubts('1.31'), ['2 other-patient']);
	});

	test('is a warning of STOW-RS', async () => {
		assert.equal(await send(foreign('1.30', 1, 'D30')), 0);
		const answer = await stow(foreign('1.30', 2, 'D31'));
		assert.deepEqual([answer.status, answer.json()['00081199'].Value[0]['00081196'].Value], [202, [0xb000]]);
		assert.equal((await open('1.30')).length, 1);
	});

	test('is taken into the study or made a study of its own by a person', async () => {
		const later = { ...context(), nowMs: () => Date.now() + 3_600_000 };
		assert.equal(await send(foreign('1.40', 1, 'D40')), 0);
		for (const number of [2, 3, 4]) assert.equal(await send(foreign('1.40', number, 'D41')), 0xb000);
		const waiting = (await open('1.40')).sort((left, right) => (left.sop_instance_uid < right.sop_instance_uid ? -1 : 1));
		const [second = '', third = '', fourth = ''] = waiting.map(({ id }) => id);
		const { stored, study_patient_name: name } = await showConflict(later, await conflictRow(later, second));
		const { settlement } = await settleConflict(later, { id: second, keep: 'received' });
		assert.deepEqual([stored, name, settlement], [null, 'Name, D40', 'received']);
		assert.deepEqual(await seen('1.40'), { patient: 'Name^D40', instances: 2 });
		await settleConflict(later, { id: third, keep: 'split' });
		assert.deepEqual(await doubts('1.40'), ['4 other-patient'], 'one more image waits');
		await settleConflict(later, { id: fourth, keep: 'stored' });
		const [row] = await service.rows<{ study_uid: string; stated_study_uid: string }>(
			`select study_uid, stated_study_uid from imaging_instance where site_id = $1 and sop_instance_uid = '1.40.3'`,
			[siteId],
		);
		assert.match(row?.study_uid ?? '', /^2\.25\./);
		assert.deepEqual([row?.stated_study_uid, await seen(row?.study_uid ?? '')], ['1.40', { patient: 'Name^D41', instances: 1 }]);
		assert.deepEqual([await open('1.40'), await doubts('1.40'), (await seen('1.40'))?.instances], [[], [], 2]);
		assert.equal(await send(foreign('1.40', 3, 'D41')), 0, 'what was filed elsewhere comes again');
	});
});

describe('what people put right about studies', () => {
	const site = 'west';
	const idOf = async (number: string) => {
		const found = await searchPatients(context(), { site, text: number, limit: 10 });
		return found.find(({ identifiers }) => identifiers.some(({ value, old }) => value === number && !old))?.id ?? assert.fail(number);
	};
	const image = (studyUid: string, number: number, patientId: string): Image => ({
		studyUid,
		sopInstanceUid: `${studyUid}.${number}`,
		patientId,
	});
	const stored = async (studyUid: string, patientId: string, count: number) => {
		for (let number = 1; number <= count; number++) assert.equal(await send(image(studyUid, number, patientId)), 0);
	};
	const everything = { series: [], instances: [] };
	const reports = async () => {
		const { body } = await fhirClient(service, key)('GET', '/DiagnosticReport?_count=50');
		return ((body as FhirBody).entry ?? []).map(({ resource }: FhirBody) => [
			resource.subject?.reference,
			resource.imagingStudy?.map(({ reference, identifier }: FhirBody) => reference ?? identifier.value),
			resource.meta.versionId,
		]);
	};

	test('a study is given to another patient with the reports that people made, and returns when that is undone', async () => {
		await stored('1.50', 'D50', 2);
		await stored('1.51', 'D51', 1);
		const [first, second] = [await idOf('D50'), await idOf('D51')];
		const { id } = await showStudy(context(), { site, id: '1.50' });
		await addReport(context(), { site, study: '1.50', title: 'CT', text: 'No bleeding.', status: 'completed' });
		const about = async () => (await reports()).filter(([, named]: [string, string[]]) => named?.includes(`ImagingStudy/${id}`));
		const preview = await previewStudy(context(), { site, study: '1.50', operation: 'assign', patient: second, ...everything });
		assert.deepEqual([preview.from?.id, preview.to?.id, preview.instances, preview.reports, preview.obstacle], [first, second, 2, 1, null]);
		const { version } =
			(await service.rows<{ version: number }>(`select version from imaging_study where study_uid = '1.50'`))[0] ?? assert.fail();

		const { edit } = await assignStudy(context(), { site, study: '1.50', patient: second });
		assert.deepEqual(await seen('1.50'), { patient: 'Name^D51', instances: 2 });
		assert.deepEqual(await about(), [[`Patient/${second}`, [`ImagingStudy/${id}`], '2']]);
		const [after] = await service.rows<{ version: number }>(`select version from imaging_study where study_uid = '1.50'`);
		assert.equal(after?.version, version + 1);
		assert.equal((await dicomWebClient(service, key).get('/studies?PatientID=D50')).json().length, 0);
		await assert.rejects(assignStudy(context(), { site, study: '1.50', patient: second }), /is that of this patient already/);

		for (const [number, patientId] of [
			[3, 'D50'],
			[4, 'D51'],
		] as const)
			assert.equal(await send(image('1.50', number, patientId)), 0, 'further images follow the decision');
		const [listed] = await listStudyEditsOf(context(), { site, study: '1.50' });
		assert.deepEqual([listed?.id, listed?.operation, listed?.from, listed?.to, listed?.undone_at], [edit, 'assign', first, second, null]);
		await undoStudy(context(), { site, edit });
		assert.deepEqual(await seen('1.50'), { patient: 'Name^D50', instances: 4 });
		assert.deepEqual(await about(), [[`Patient/${first}`, [`ImagingStudy/${id}`], '3']]);
		await assert.rejects(undoStudy(context(), { site, edit }), /undone already/);
		const audited = await service.rows(`select action from audit_event where subject = '1.50' order by id`);
		assert.deepEqual(
			audited.map(({ action }) => action),
			['study.assign', 'study.undo'],
		);
	});

	test('a study without a patient is given one, and images that were kept aside for it become part of it', async () => {
		for (const authority of ['HOSP', 'LAB']) await hl7('ADT^A04', person('M60', authority, `Of${authority}^Ann`));
		await stored('1.60', 'M60', 1);
		assert.equal(await send(image('1.60', 2, 'D60')), 0xb000);
		await stored('1.61', 'D60', 1);
		const patient = await idOf('D60');
		const preview = await previewStudy(context(), { site, study: '1.60', operation: 'assign', patient, ...everything });
		assert.deepEqual([preview.from, preview.aside], [null, 1]);
		assert.equal((await assignStudy(context(), { site, study: '1.60', patient })).taken_in, 1);
		assert.deepEqual([await seen('1.60'), await doubts('1.60')], [{ patient: 'Name^D60', instances: 2 }, []]);
		assert.equal(await send(image('1.60', 3, 'M60')), 0, 'what the first image stated belongs to it');
	});

	test('only images that name the patient become part of the study: by any number that leads to them', async () => {
		for (const number of ['G90', 'G91', 'G92']) await hl7('ADT^A04', person(number, 'HOSP', `Of${number}^Ann`));
		await hl7('ADT^A04', person('G91', 'LAB', 'Other^Ann'));
		await hl7('ADT^A40', person('G91', 'HOSP', 'OfG91^Ann'), 'MRG|G92^^^HOSP');
		for (const [index, named] of ['G90 HOSP', 'G91 HOSP', 'G91 LAB', 'G92 HOSP'].entries()) {
			const [patientId = '', patientIssuer = ''] = named.split(' ');
			assert.equal(await send({ ...image('1.90', index, patientId), patientIssuer }), index === 0 ? 0 : 0xb000);
		}
		const { body } = await fhirClient(service, key)('GET', '/Patient?identifier=urn:id:HOSP%7CG91');
		assert.equal((await assignStudy(context(), { site, study: '1.90', patient: body.entry[0].resource.id })).taken_in, 2);
		assert.deepEqual(await seen('1.90'), { patient: 'OfG91^Ann', instances: 3 });
	});

	test('images are split off and moved, and return with their study when that is undone', async () => {
		await stored('1.70', 'D70', 3);
		await stored('1.71', 'D71', 1);
		const { id } = await showStudy(context(), { site, id: '1.70' });
		const patient = await idOf('D71');
		const of = { series: [], instances: ['1.70.2', '1.70.3'] };
		assert.equal((await previewStudy(context(), { site, study: '1.70', operation: 'split', patient, ...of })).instances, 2);
		const split = await splitStudy(context(), { site, study: '1.70', patient, ...of });
		const uid = split.to_study ?? assert.fail();
		assert.match(uid, /^2\.25\./);
		assert.deepEqual(
			[await seen('1.70'), await seen(uid)],
			[
				{ patient: 'Name^D70', instances: 1 },
				{ patient: 'Name^D71', instances: 2 },
			],
		);
		const metadata = (await dicomWebClient(service, key).get(`/studies/${uid}/metadata`)).json();
		assert.deepEqual(
			metadata.map((item: FhirBody) => item['0020000D'].Value),
			[[uid], [uid]],
		);
		assert.equal(await send(image('1.70', 2, 'D70')), 0, 'what was moved is known when it comes again');
		const [again] = (await stow(image('1.70', 2, 'D70'))).json()['00081199'].Value;
		assert.ok(again['00081190'].Value[0].endsWith(`/studies/${uid}/series/1.70.0/instances/1.70.2`), again['00081190'].Value[0]);
		const retrieved = await fetch(again['00081190'].Value[0], { headers: { 'X-API-Key': key } });
		assert.equal(retrieved.status, 200);
		const moved = await moveStudy(context(), { site, study: uid, to: '1.71', series: [], instances: ['1.70.3'] });
		assert.deepEqual([(await seen(uid))?.instances, await seen('1.71')], [1, { patient: 'Name^D71', instances: 2 }]);
		const rest = await moveStudy(context(), { site, study: '1.70', to: '1.71', ...everything });
		assert.deepEqual([await seen('1.70'), (await seen('1.71'))?.instances], [undefined, 3]);
		for (const { edit } of [rest, moved, split]) await undoStudy(context(), { site, edit });
		assert.deepEqual(
			[await seen('1.70'), await seen(uid), await seen('1.71')],
			[{ patient: 'Name^D70', instances: 3 }, undefined, { patient: 'Name^D71', instances: 1 }],
		);
		assert.equal((await showStudy(context(), { site, id: '1.70' })).id, id, 'it is the same study');
		const [strange] = await service.rows<{ count: number }>(
			`select count(*)::integer from imaging_instance where study_uid = '1.70' and stated_study_uid is not null`,
		);
		assert.equal(strange?.count, 0);
		await assert.rejects(
			moveStudy(context(), { site, study: '1.70', to: '1.71', series: [], instances: ['1.71.1'] }),
			/none of these images/,
		);
	});

	test('a study that was given to a patient follows their merge, and stays when that is undone', async () => {
		for (const number of ['D80', 'D81', 'D82']) await stored(`1.${number.slice(1)}`, number, 1);
		const [prior, survivor, other] = [await idOf('D80'), await idOf('D81'), await idOf('D82')];
		await assignStudy(context(), { site, study: '1.82', patient: prior });
		await mergePatients(context(), { site, survivor, prior });
		assert.equal((await seen('1.82'))?.patient, 'Name^D81');
		await unmergePatients(context(), { site, survivor, prior });
		assert.deepEqual([(await seen('1.82'))?.patient, (await seen('1.80'))?.patient], ['Name^D80', 'Name^D80']);
		await mergePatients(context(), { site, survivor, prior });
		await assignStudy(context(), { site, study: '1.82', patient: other });
		await unmergePatients(context(), { site, survivor, prior });
		assert.deepEqual([(await seen('1.82'))?.patient, (await seen('1.81'))?.patient], ['Name^D82', 'Name^D81']);
	});

	test('an edit that is undone leaves nothing: undoing an earlier merge returns the study to whom it was recorded under', async () => {
		for (const number of ['D83', 'D84', 'D85']) await stored(`1.${number.slice(1)}`, number, 1);
		const [prior, survivor, other] = [await idOf('D83'), await idOf('D84'), await idOf('D85')];
		await mergePatients(context(), { site, survivor, prior });
		await undoStudy(context(), { site, edit: (await assignStudy(context(), { site, study: '1.83', patient: other })).edit });
		const { edit } = await moveStudy(context(), { site, study: '1.83', to: '1.85', ...everything });
		assert.equal(await seen('1.83'), undefined);
		await undoStudy(context(), { site, edit });
		assert.equal((await seen('1.83'))?.patient, 'Name^D84');
		await unmergePatients(context(), { site, survivor, prior });
		assert.equal((await seen('1.83'))?.patient, 'Name^D83');
	});

	test('images that name a former patient belong to the study, also when that one was merged since', async () => {
		for (const number of ['D86', 'D87', 'D88']) await stored(`1.${number.slice(1)}`, number, 1);
		const [former, other, survivor] = [await idOf('D86'), await idOf('D87'), await idOf('D88')];
		await assignStudy(context(), { site, study: '1.86', patient: other });
		await mergePatients(context(), { site, survivor, prior: former });
		assert.deepEqual([await send(image('1.86', 2, 'D86')), await seen('1.86')], [0, { patient: 'Name^D87', instances: 2 }]);
	});
});
