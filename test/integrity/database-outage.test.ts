import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkObjects } from '#administration/objects.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { adt } from '#test/support/adt.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';
import { administer } from '#test/support/template.ts';

/** Keeps everybody out of the service's database, and ends who is in. */
async function takeAway(service: TestService): Promise<void> {
	const name = new URL(service.databaseUrl).pathname.slice(1);
	await administer(service.databaseUrl, `alter database ${name} allow_connections false`);
	await administer(service.databaseUrl, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
}

async function giveBack(service: TestService): Promise<void> {
	await administer(service.databaseUrl, `alter database ${new URL(service.databaseUrl).pathname.slice(1)} allow_connections true`);
}

describe('a database that is away', () => {
	test('leaves MLLP unanswered and HTTP with 503; when it is back within the time, everything is stored and answered in order', async () => {
		await using service = await testService();
		const { key } = await service.addSite('north');
		const client = await MllpClient.connect(service.port('mllp'));
		assert.equal(msa(await client.send(adt('0', 'A', 0))).code, 'AA');
		await takeAway(service);
		let answered = 0;
		const answers = [1, 2, 3].map(async (number) => {
			const answer = msa(await client.send(adt(String(number), 'A', number)));
			answered++;
			return answer;
		});
		const ingest = () =>
			fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
				method: 'POST',
				headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
				body: adt('h', 'B', 1),
			});
		await eventually(async () => (await fetch(`http://127.0.0.1:${service.port('ops')}/health/ready`)).status === 503, 'not ready');
		const refused = await ingest();
		assert.equal(refused.status, 503);
		assert.ok(Number(refused.headers.get('retry-after')) > 0);
		const read = await service.fhir('/fhir/Patient', key);
		assert.equal(read.status, 503);
		assert.equal(read.body.issue[0].code, 'transient');
		assert.equal(answered, 0);
		await giveBack(service);
		assert.deepEqual(
			(await Promise.all(answers)).map(({ code, controlId }) => `${code} ${controlId}`),
			['AA 1', 'AA 2', 'AA 3'],
		);
		await eventually(async () => (await ingest()).status === 200, 'HTTP storing again');
		assert.equal((await service.fhir('/fhir/Patient?name=Number3', key)).body.total, 1);
	});

	test('closes MLLP connections without an answer when it stays away; nothing of it is stored later', async () => {
		await using service = await testService({ UNAVAILABLE_MS_MAX: '4000' });
		await service.addSite('north');
		const client = await MllpClient.connect(service.port('mllp'));
		assert.equal(msa(await client.send(adt('0', 'A', 0))).code, 'AA');
		await takeAway(service);
		await assert.rejects(client.send(adt('1', 'A', 1)), /closed without an answer/);
		await giveBack(service);
		const again = await MllpClient.connect(service.port('mllp'));
		assert.equal(msa(await again.send(adt('1', 'A', 1))).code, 'AA');
		assert.deepEqual(await service.rows('select version from patient'), [{ version: 2 }]);
		again.close();
	});

	test('has instances refused with 0xA700, and their association go on; sent again they are one row and one file each', async () => {
		await using service = await testService({ UNAVAILABLE_MS_MAX: '4000' });
		const { called, siteId } = await addImagingSite(service, 'west');
		using scu = await StorageScu.open(service.port('dimse'), { called });
		const instance = (number: number) => ctInstance({ sopInstanceUid: `1.2.${number}`, pixels: Buffer.alloc(50_000, number) });
		assert.equal((await scu.store(instance(1))).status, 0);
		await takeAway(service);
		const refused = [await scu.store(instance(2)), await scu.store(instance(3))];
		assert.deepEqual(
			refused.map(({ status }) => status),
			[0xa700, 0xa700],
		);
		assert.equal(await scu.echo(), 0);
		await giveBack(service);
		await eventually(async () => (await scu.store(instance(2))).status === 0, 'storing again');
		for (const number of [1, 2, 3]) assert.equal((await scu.store(instance(number))).status, 0);
		await scu.release();
		const rows = await service.rows<{ uid: string }>(
			'select sop_instance_uid as uid from imaging_instance where site_id = $1 order by uid',
			[siteId],
		);
		assert.deepEqual(
			rows.map(({ uid }) => uid),
			['1.2.1', '1.2.2', '1.2.3'],
		);
		const store = configuredObjectStore({ DATA_DIR: service.dataDir });
		const later = Date.now() + 7_200_000;
		// Where it was open whether the row was committed, the file stays until somebody sweeps.
		assert.equal((await checkObjects(service.databaseUrl, store, later, { remove: true, repair: true })).rows_without_objects, 0);
		const swept = await checkObjects(service.databaseUrl, store, later, { remove: false, repair: false });
		assert.deepEqual([swept.objects, swept.objects_without_rows, swept.rows_without_objects], [3, 0, 0]);
	});
});
