import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listConflicts, listConflictsInput, settleConflict } from '#administration/conflicts.ts';
import type { OperationContext } from '#administration/context.ts';
import { setSite } from '#administration/sites.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { type GivenImage, opened, sendImages } from '#test/support/images.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

const [ct, mr] = ['1.2.840.10008.5.1.4.1.1.2', '1.2.840.10008.5.1.4.1.1.4'];

let service: TestService;
let call: FhirCall;
let mllp: MllpClient;
let administration: OperationContext;
let messages = 0;

before(async () => {
	service = await testService();
	call = fhirClient(service, (await service.addSite('west')).key);
	await opened(service, 'west');
	mllp = await MllpClient.connect(service.port('mllp'));
	administration = {
		...service.administration,
		nowMs: () => Date.now() + 3_600_000,
	};
	await policy('replace');
});

after(async () => {
	mllp.close();
	await service[Symbol.asyncDispose]();
});

const policy = (instance_policy: 'keep' | 'replace') => setSite(service.administration, { slug: 'west', instance_policy });

/** One after the other, so that each is a transaction of its own. */
async function send(...images: (Partial<GivenImage> & Pick<GivenImage, 'studyUid' | 'sopInstanceUid'>)[]): Promise<void> {
	const given = images.map((image) => ({ seriesUid: `${image.studyUid}.1`, patientId: 'P', patientIssuer: 'HOSPITAL', ...image }));
	await sendImages(service.port('dimse'), 'WEST', given);
}

/** A final report of the patient, known by its filler number. */
async function report(filler: string, names: { uid?: string; accession?: string }, patient = 'P'): Promise<void> {
	const obr = ['OBR', '1', '', filler, 'CTHEAD^CT^L'];
	obr[18] = names.accession ?? '';
	obr[25] = 'F';
	const segments = [
		`MSH|^~\\&|RIS|HOSP|TRIB|SITE|20240102030405+0100||ORU^R01^ORU_R01|${++messages}|P|2.5.1`,
		`PID|1||${patient}^^^HOSPITAL||Doe^Jane`,
		Array.from(obr, (field) => field ?? '').join('|'),
		...(names.uid === undefined ? [] : [`ZDS|${names.uid}^100^Application^DICOM`]),
		'OBX|1|TX|GDT^Text^L||No bleeding.||||||F',
	];
	assert.equal(msa(await mllp.send(segments.join('\r'))).code, 'AA');
}

async function studies(uid: string): Promise<FhirBody[]> {
	const { status, body } = await call('GET', `/ImagingStudy?identifier=urn:dicom:uid|urn:oid:${uid}`);
	assert.equal(status, 200);
	return (body.entry ?? []).map(({ resource }: FhirBody) => resource);
}

async function study(uid: string): Promise<FhirBody> {
	const [only, ...more] = await studies(uid);
	assert.deepEqual(more, []);
	assert.ok(only);
	return only;
}

const classesOf = ({ series }: FhirBody) =>
	series.flatMap(({ instance }: FhirBody) => instance.map(({ sopClass }: FhirBody) => sopClass.code)).sort();
const byClass = async (sopClass: string) =>
	((await call('GET', `/ImagingStudy?dicom-class=urn:oid:${sopClass}`)).body.entry ?? []).map(({ resource }: FhirBody) => resource.id);

/** The version of a report and what it refers to; each reference is followed. */
async function referencesOf(filler: string): Promise<{ version: string; references: (string | undefined)[]; uids: string[] }> {
	const { body } = await call('GET', `/DiagnosticReport?identifier=${filler}`);
	assert.equal(body.total, 1);
	const { meta, imagingStudy = [] } = body.entry[0].resource;
	const references = imagingStudy.map(({ reference }: FhirBody) => reference);
	for (const reference of references)
		if (reference !== undefined) assert.equal((await call('GET', `/${reference}`)).status, 200, reference);
	const uids = imagingStudy.map(({ identifier }: FhirBody) => identifier.value.replace('urn:oid:', ''));
	return { version: meta.versionId, references, uids };
}

const referenceTo = async (uid: string) => `ImagingStudy/${(await study(uid)).id}`;

describe('a replaced instance', () => {
	test('is a version of its study, with the SOP classes that it leaves', async () => {
		await send(
			{ studyUid: '1.1', sopInstanceUid: '1.1.1', sopClassUid: ct },
			{ studyUid: '1.1', sopInstanceUid: '1.1.2', sopClassUid: mr },
		);
		const begun = await study('1.1');
		assert.deepEqual([begun.meta.versionId, classesOf(begun)], ['2', [`urn:oid:${ct}`, `urn:oid:${mr}`]]);
		await send({ studyUid: '1.1', sopInstanceUid: '1.1.2', sopClassUid: ct, number: 7 });
		const replaced = await study('1.1');
		assert.deepEqual(
			[replaced.id, replaced.meta.versionId, classesOf(replaced), replaced.numberOfInstances],
			[begun.id, '3', [`urn:oid:${ct}`, `urn:oid:${ct}`], 2],
		);
		assert.ok(replaced.meta.lastUpdated > begun.meta.lastUpdated);
		assert.deepEqual([await byClass(ct), await byClass(mr)], [[begun.id], []]);
	});

	test('is a version of the study that it leaves, and begins the one that it names', async () => {
		await send({ studyUid: '1.2', sopInstanceUid: '1.2.1' }, { studyUid: '1.2', sopInstanceUid: '1.2.2', sopClassUid: mr });
		const before = await study('1.2');
		await send({ studyUid: '1.3', sopInstanceUid: '1.2.2', sopClassUid: mr });
		const [left, begun] = [await study('1.2'), await study('1.3')];
		assert.deepEqual([left.meta.versionId, left.numberOfInstances, classesOf(left)], ['3', 1, [`urn:oid:${ct}`]]);
		assert.ok(left.meta.lastUpdated > before.meta.lastUpdated);
		assert.deepEqual([begun.meta.versionId, begun.numberOfInstances, classesOf(begun)], ['1', 1, [`urn:oid:${mr}`]]);
		assert.deepEqual(await byClass(mr), [begun.id]);
	});

	test('begins a study that reports have waited for, and leaves none that they refer to', async () => {
		await report('F-UID', { uid: '1.4' });
		await report('F-ACC', { accession: 'ACC4' });
		await send({ studyUid: '1.5', sopInstanceUid: '1.4.1' });
		await send({ studyUid: '1.4', sopInstanceUid: '1.4.1', accession: 'ACC4' });
		const begun = { version: '2', references: [await referenceTo('1.4')], uids: ['1.4'] };
		assert.deepEqual([await referencesOf('F-UID'), await referencesOf('F-ACC')], [begun, begun]);
		await send({ studyUid: '1.5', sopInstanceUid: '1.4.1' });
		assert.deepEqual(await studies('1.4'), []);
		assert.deepEqual(await referencesOf('F-UID'), { version: '3', references: [undefined], uids: ['1.4'] });
		assert.deepEqual(await referencesOf('F-ACC'), { version: '3', references: [], uids: [] });
		await send({ studyUid: '1.4', sopInstanceUid: '1.4.2', accession: 'ACC4' });
		const again = { version: '4', references: [await referenceTo('1.4')], uids: ['1.4'] };
		assert.deepEqual([await referencesOf('F-UID'), await referencesOf('F-ACC')], [again, again]);
	});

	test('that names the right patient and number brings the study to their reports', async () => {
		await report('F-RIGHT', { accession: 'RIGHT6' }, 'RIGHT');
		await report('F-WRONG', { accession: 'WRONG6' }, 'WRONG');
		await send({ studyUid: '1.6', sopInstanceUid: '1.6.1', patientId: 'WRONG', accession: 'WRONG6' });
		assert.deepEqual((await referencesOf('F-WRONG')).references, [await referenceTo('1.6')]);
		await send({ studyUid: '1.6', sopInstanceUid: '1.6.1', patientId: 'RIGHT', accession: 'RIGHT6' });
		assert.deepEqual((await referencesOf('F-WRONG')).references, []);
		assert.deepEqual((await referencesOf('F-RIGHT')).references, [await referenceTo('1.6')]);
	});
});

describe('a conflict that is settled for what was received', () => {
	test('begins the study that it names, which goes again when that is taken back', async () => {
		await policy('keep');
		await report('F-SETTLED', { uid: '1.8' });
		await send({ studyUid: '1.7', sopInstanceUid: '1.7.1' });
		await assert.rejects(send({ studyUid: '1.8', sopInstanceUid: '1.7.1', sopClassUid: mr }), /b000/);
		const newest = async () => (await listConflicts(administration, listConflictsInput.parse({ site: 'west', all: true, limit: 1 })))[0];
		await settleConflict(administration, { id: (await newest())?.id ?? '', keep: 'received' });
		assert.deepEqual(await studies('1.7'), []);
		assert.deepEqual(await referencesOf('F-SETTLED'), { version: '2', references: [await referenceTo('1.8')], uids: ['1.8'] });
		assert.deepEqual(classesOf(await study('1.8')), [`urn:oid:${mr}`]);
		await settleConflict(administration, { id: (await newest())?.id ?? '', keep: 'received' });
		assert.deepEqual(await studies('1.8'), []);
		assert.deepEqual(await referencesOf('F-SETTLED'), { version: '3', references: [undefined], uids: ['1.8'] });
		assert.equal((await study('1.7')).numberOfInstances, 1);
	});
});
