import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listIdentity } from '#administration/identity-work.ts';
import { setSite } from '#administration/sites.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { ctStorage } from '#test/support/data-set.ts';
import { type GivenImage, imageDataSet, opened } from '#test/support/images.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { StorageScu } from '#test/support/storage-scu.ts';

let service: TestService;
let key: string;
let scu: StorageScu;
let messages = 0;

before(async () => {
	service = await testService();
	({ key } = await service.addSite('west'));
	await opened(service, 'west');
	scu = await StorageScu.open(service.port('dimse'), { called: 'WEST' });
});

after(async () => {
	scu[Symbol.dispose]();
	await service[Symbol.asyncDispose]();
});

const context = () => ({ ...service.administration, visibleSites: ['west'] });

/** The status of a C-STORE. */
async function send(image: Pick<GivenImage, 'studyUid' | 'sopInstanceUid'> & Partial<GivenImage>): Promise<number | undefined> {
	const { sopInstanceUid } = image;
	const dataSet = imageDataSet({ seriesUid: `${image.studyUid}.0`, modality: 'CT', ...image });
	return (await scu.store({ sopClassUid: ctStorage, sopInstanceUid, transferSyntaxUid: explicitLittleEndian, dataSet })).status;
}

const post = (port: number, path: string, type: string, body: string) =>
	fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers: { 'X-API-Key': key, 'Content-Type': type }, body });

async function admit(number: string, authority: string, family: string): Promise<void> {
	const text = [
		`MSH|^~\\&|ADT|W|||20260105101500||ADT^A04|${++messages}|P|2.5.1`,
		`PID|1||${number}^^^${authority}^MR||${family}^Ann||19700101|F`,
	];
	assert.equal((await post(service.port('hl7'), '/v2/ingest', 'text/plain', text.join('\r'))).status, 200);
}

const report = (sopInstanceUid: string, studyUid: string, status: string, attributes: object) => {
	const body = JSON.stringify({ sop_instance_uid: sopInstanceUid, study_uid: studyUid, status, attributes });
	return post(service.port('mpps'), '/ingest', 'application/json', body);
};

/** The family name of the patient of a study, if it has one. */
async function patientOf(studyUid: string): Promise<string | undefined> {
	const found = await service.rows<{ family: string | null }>(
		`select tributary_json(p.resource) #>> '{name,0,family}' as family from imaging_study t
			left join patient p on p.site_id = t.site_id and p.id = t.patient_id where t.study_uid = $1`,
		[studyUid],
	);
	assert.equal(found.length, 1);
	return found[0]?.family ?? undefined;
}

describe('a procedure step', () => {
	test('settles a study without a patient that it names, also by its end', async () => {
		for (const number of ['M9', 'M14']) for (const authority of ['HOSP', 'LAB']) await admit(number, authority, `Of${authority}`);
		const stepped = async (uid: string, studyUid: string, status: string, more: Record<string, unknown> = {}) => {
			const attributes = { '00100020': { vr: 'LO', Value: ['M14'] }, '00100021': { vr: 'LO', Value: ['LAB'] }, ...more };
			const answer = await report(uid, studyUid, status, status === 'IN PROGRESS' ? attributes : {});
			assert.equal(answer.status, 200);
		};
		assert.equal(await send({ studyUid: '1.14', sopInstanceUid: '1.14.1', patientId: 'M14' }), 0);
		await stepped('1.14.9', '1.14', 'IN PROGRESS');
		assert.equal(await patientOf('1.14'), 'OfLAB');
		assert.deepEqual(await service.rows(`select kind from identity_doubt where study_uid = '1.14' and settled_at is null`), []);

		await stepped('1.15.9', '1.15', 'IN PROGRESS');
		assert.equal(await send({ studyUid: '1.15', sopInstanceUid: '1.15.1', patientId: 'M14' }), 0);
		assert.equal(await patientOf('1.15'), undefined);
		await stepped('1.15.9', '1.15', 'COMPLETED');
		assert.equal(await patientOf('1.15'), 'OfLAB');

		// An accession number settles a study of the number that its images state, and no other.
		const accession = { '00080050': { vr: 'SH', Value: ['ACC-16'] } };
		assert.equal(await send({ studyUid: '1.16', sopInstanceUid: '1.16.1', patientId: 'M14', accession: 'ACC-16' }), 0);
		assert.equal(await send({ studyUid: '1.17', sopInstanceUid: '1.17.1', patientId: 'M9', accession: 'ACC-16' }), 0);
		await stepped('1.16.9', '1.16.7', 'IN PROGRESS', accession);
		assert.deepEqual([await patientOf('1.16'), await patientOf('1.17')], ['OfLAB', undefined]);
	});

	test('that changes within a session is flagged', async () => {
		const of = (id: string) => ({ '00100020': { vr: 'LO', Value: [id] } });
		const flagsOf = async (session: string) => {
			const rows = await service.rows<{ flags: string | null }>(
				`select flags::text as flags from message_log where control_id = $1 order by sequence`,
				[session],
			);
			return rows.map(({ flags }) => flags?.includes('other-patient') === true);
		};
		assert.equal((await report('1.20.8', '1.20', 'IN PROGRESS', of('M20'))).status, 200);
		assert.equal((await report('1.20.8', '1.20', 'IN PROGRESS', {})).status, 200);
		assert.equal((await report('1.20.8', '1.20', 'COMPLETED', of('M21'))).status, 200);
		assert.deepEqual(await flagsOf('1.20.8'), [false, false, true]);
		assert.equal((await report('1.21.8', '1.21', 'IN PROGRESS', {})).status, 200);
		assert.equal((await report('1.21.8', '1.21', 'COMPLETED', of('M21'))).status, 200);
		assert.deepEqual(await flagsOf('1.21.8'), [false, false], 'a number that was not known is filled in');
	});

	test('of another person under a known number is listed as the setting says, and a held one settles nothing', async () => {
		await admit('M18', 'HOSP', 'Right');
		const demographics = {
			'00100010': { vr: 'PN', Value: [{ Alphabetic: 'Other^Otto' }] },
			'00100020': { vr: 'LO', Value: ['M18'] },
			'00100021': { vr: 'LO', Value: ['HOSP'] },
			'00100030': { vr: 'DA', Value: ['19500505'] },
			'00100040': { vr: 'CS', Value: ['M'] },
		};
		const mismatches = async () => {
			const { doubts: found } = await listIdentity(context(), { site: 'west', kind: 'mismatch', limit: 100 });
			return found
				.filter(({ patient }) => patient?.identifiers.some(({ value }) => value === 'M18'))
				.map(({ count, text }) => [count, text]);
		};
		assert.equal((await report('1.18.8', '1.18', 'IN PROGRESS', demographics)).status, 200);
		assert.equal((await report('1.18.8', '1.18', 'COMPLETED', {})).status, 200);
		const text = 'Patient ID names a patient with another name, another birth date and another sex';
		assert.deepEqual(await mismatches(), [[1, `${text}; the record stays as it was`]]);
		const [logged] = await service.rows<{ flags: string }>(
			`select flags::text as flags from message_log where control_id = '1.18.8' and flags is not null`,
		);
		assert.match(logged?.flags ?? '', /mismatch/);

		await setSite(context(), { slug: 'west', mismatch: 'hold' });
		try {
			assert.equal(await send({ studyUid: '1.19', sopInstanceUid: '1.19.1', patientId: 'M9' }), 0);
			assert.equal((await report('1.19.8', '1.19', 'IN PROGRESS', demographics)).status, 200);
			assert.equal((await report('1.19.8', '1.19', 'COMPLETED', {})).status, 200, 'the step goes on');
			assert.equal(await patientOf('1.19'), undefined);
		} finally {
			await setSite(context(), { slug: 'west', mismatch: 'flag' });
		}
		assert.equal((await mismatches())[0]?.[0], 3);
	});
});
