import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addClient } from '#administration/clients.ts';
import { addRemoteAe } from '#administration/remote-aes.ts';
import { setSite } from '#administration/sites.ts';
import { part10Head } from '#dicom/part10.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { ctStorage, sampleDataSet } from '#test/support/data-set.ts';
import { without } from '#test/support/needs.ts';
import { type Orthanc, startOrthanc } from '#test/support/orthanc.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

const study = '1.2.826.0.1.3680043.8.498.7';
const pixels = Buffer.from(Uint8Array.from({ length: 512 * 256 * 2 }, (_, index) => (index * 7) & 0xff));

function file(number: number): Buffer {
	const sopInstanceUid = `${study}.1.${number}`;
	const dataSet = sampleDataSet({ studyUid: study, seriesUid: `${study}.1`, sopInstanceUid, pixels });
	return Buffer.concat([part10Head({ sopClassUid: ctStorage, sopInstanceUid, transferSyntaxUid: explicitLittleEndian }), dataSet]);
}

describe('Orthanc as a peer', { skip: without('orthanc') }, () => {
	let service: TestService;
	let orthanc: Orthanc;

	before(async () => {
		service = await testService();
		const { key } = await service.addSite('west');
		await setSite(service.administration, { slug: 'west', ae_title: 'WEST' });
		const client = { site: 'west', name: 'orthanc', protocols: ['dicom' as const], allowed_ips: ['127.0.0.1'] };
		await addClient(service.administration, { ...client, grants: ['query'] });
		const webUrl = `http://127.0.0.1:${service.port('fhir')}/dicomweb/`;
		orthanc = await startOrthanc({ aeTitle: 'WEST', dicomPort: service.port('dimse'), webUrl, key });
		const remote = { site: 'west', title: 'ORTHANC', host: '127.0.0.1', port: orthanc.dicomPort, tls: false };
		await addRemoteAe(service.administration, remote);
		for (const number of [1, 2]) await orthanc.ask('POST', '/instances', file(number));
	});

	after(async () => {
		await orthanc?.[Symbol.asyncDispose]();
		await service?.[Symbol.asyncDispose]();
	});

	const stored = async () =>
		(await service.rows<{ uid: string }>('select sop_instance_uid as uid from imaging_instance order by 1')).map(({ uid }) => uid);

	const uidOf = async (id: string) =>
		((await orthanc.ask('GET', `/instances/${id}/simplified-tags`)) as { SOPInstanceUID: string }).SOPInstanceUID;

	async function idOf(number: number): Promise<string> {
		for (const id of await orthanc.instances()) if ((await uidOf(id)) === `${study}.1.${number}`) return id;
		return assert.fail(`Orthanc has no instance ${number}`);
	}

	/** Orthanc has both instances again, in the transfer syntax in which it sent them. */
	async function assertReturned(): Promise<void> {
		for (const number of [1, 2]) {
			const id = await idOf(number);
			const answer = (await orthanc.ask('GET', `/instances/${id}/tags?simplify`)) as Record<string, unknown>;
			assert.deepEqual([answer['StudyInstanceUID'], answer['Rows'], answer['Columns']], [study, '512', '256']);
			assert.equal(await orthanc.ask('GET', `/instances/${id}/metadata/TransferSyntax`), explicitLittleEndian);
		}
	}

	async function forget(): Promise<void> {
		for (const id of await orthanc.instances()) await orthanc.ask('DELETE', `/instances/${id}`);
	}

	test('stores by C-STORE and by STOW-RS, with its boundary of 73 characters', async () => {
		await orthanc.ask('POST', '/modalities/peer/store', [await idOf(1)]);
		assert.deepEqual(await stored(), [`${study}.1.1`]);
		await orthanc.ask('POST', '/dicom-web/servers/peer/stow', { Resources: [await idOf(2)], Synchronous: true });
		await eventually(async () => (await stored()).length === 2, 'the instance that came by STOW-RS');
	});

	test('finds and retrieves by C-FIND and C-MOVE', async () => {
		const asked = { Level: 'Study', Query: { StudyInstanceUID: study, PatientID: 'P-1' } };
		const { ID: query } = (await orthanc.ask('POST', '/modalities/peer/query', asked)) as { ID: string };
		assert.deepEqual(await orthanc.ask('GET', `/queries/${query}/answers`), ['0']);
		await forget();
		await eventually(async () => {
			await orthanc.ask('POST', `/queries/${query}/retrieve`, 'ORTHANC');
			return (await orthanc.instances()).length === 2;
		}, 'the remote AE');
		await assertReturned();
	});

	test('finds and retrieves by QIDO-RS and WADO-RS', async () => {
		const asked = { Uri: '/studies', Arguments: { StudyInstanceUID: study } };
		const found = (await orthanc.ask('POST', '/dicom-web/servers/peer/qido', asked)) as Record<string, { Value: string }>[];
		assert.deepEqual(
			found.map((entity) => entity['0020000D']?.Value),
			[study],
		);
		await forget();
		await orthanc.ask('POST', '/dicom-web/servers/peer/retrieve', { Resources: [{ Study: study }], Synchronous: true });
		await eventually(async () => (await orthanc.instances()).length === 2, 'the instances that came by WADO-RS');
		await assertReturned();
	});
});
