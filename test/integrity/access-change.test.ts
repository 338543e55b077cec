import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { listClients, setClient } from '#administration/clients.ts';
import { listKeys, revokeKey } from '#administration/keys.ts';
import { enableSite } from '#administration/sites.ts';
import { adt } from '#test/support/adt.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, testService } from '#test/support/service.ts';
import { StorageScu } from '#test/support/storage-scu.ts';

describe('a change of access', () => {
	test('reaches an open MLLP connection with its next message', async () => {
		await using service = await testService();
		await service.addSite('north');
		const client = await MllpClient.connect(service.port('mllp'));
		assert.equal(msa(await client.send(adt('1', 'A', 1))).code, 'AA');
		const [sender] = await listClients(service.administration);
		await setClient(service.administration, { id: sender?.id ?? '', sending_application: 'OTHER' });
		let refused = '';
		await eventually(async () => {
			const answer = msa(await client.send(adt(`again-${Date.now()}-${Math.random()}`, 'A', 2)));
			refused = answer.text;
			return answer.code === 'AE';
		}, 'the refusal');
		assert.match(refused, /MSH-3/);
		await eventually(async () => (await service.rows('select 1 from unmatched_message')).length > 0, 'the unmatched message');
		await setClient(service.administration, { id: sender?.id ?? '', active: false });
		await eventually(
			() =>
				client.send(adt(`closed-${Math.random()}`, 'A', 3)).then(
					() => false,
					() => true,
				),
			'the end of the connection',
		);
		await eventually(async () => {
			const next = await MllpClient.connect(service.port('mllp'));
			return next.send(adt(`refused-${Math.random()}`, 'A', 4)).then(
				() => false,
				() => true,
			);
		}, 'the refusal of a new connection');
		await eventually(
			async () => (await service.rows(`select 1 from audit_event where action = 'mllp.refused'`)).length > 0,
			'the audit event',
		);
	});

	test('ends a key, and a site with all its keys', async () => {
		await using service = await testService();
		const north = await service.addSite('north');
		const south = await service.addSite('south', { allowed_ips: ['127.0.0.2'] });
		const keyId = (await listKeys({ ...service.administration, visibleSites: ['north'] }))[0]?.id ?? '';
		await revokeKey(service.administration, keyId);
		await eventually(async () => (await service.fhir('/fhir/Patient', north.key)).status === 401, 'the end of the key');
		const answer = await service.fhir('/fhir/Patient', north.key);
		assert.equal(answer.body.issue[0].code, 'login');
		assert.equal((await service.fhir('/fhir/Patient', south.key)).status, 200);
		await enableSite(service.administration, 'south', false);
		await eventually(async () => (await service.fhir('/fhir/Patient', south.key)).status === 401, 'the end of the site');
		const unknown = await service.fhir('/fhir/Patient', 'trb_nobody');
		assert.deepEqual(unknown.body, answer.body);
	});
});

describe('callers that are refused', () => {
	test('leave one audit event an address and reason, with the prefix of the key and their number, however often they come', async () => {
		await using service = await testService({ PROCESSES: '1' });
		const { key } = await service.addSite('north', { allowed_ips: ['127.0.0.1'] });
		const guessed = `${key.slice(0, -4)}AAAA`;
		const surfaces = [
			['fhir', '/fhir/Patient'],
			['fhir', '/fhir/metadata'],
			['fhir', '/dicomweb/studies'],
			['hl7', '/v2/ingest'],
			['mpps', '/ingest'],
		] as const;
		for (let round = 0; round < 10; round++) {
			for (const [surface, path] of surfaces) {
				const url = `http://127.0.0.1:${service.port(surface)}${path}`;
				const body = surface === 'fhir' ? {} : { method: 'POST', body: 'x'.repeat(100_000) };
				assert.equal((await fetch(url, { ...body, headers: { 'X-API-Key': guessed } })).status, 401);
				assert.equal((await fetch(url, { ...body, headers: { 'X-API-Key': 'a password' } })).status, 401);
			}
			await new Promise((resolve) =>
				connect({ port: service.port('mllp'), host: '127.0.0.1', localAddress: '127.0.0.9' })
					.on('error', () => undefined)
					.on('close', resolve),
			);
			await assert.rejects(StorageScu.open(service.port('dimse'), { called: 'NOBODY' }), /PDU 3/);
		}
		type Row = { action: string; subject: string; source: string; detail: { times: number; named?: string } };
		const rows = () =>
			service.rows<Row>(`select action, subject, source, detail from audit_event where action like '%.refused' order by action, subject`);
		await eventually(async () => (await rows()).length === 4, 'the events');
		const events = await rows();
		assert.deepEqual(
			events.map(({ action, subject, source, detail: { named } }) => [action, subject, source, named]),
			[
				['dimse.refused', 'called', '127.0.0.1', 'NOBODY'],
				['key.refused', 'malformed', '127.0.0.1', undefined],
				['key.refused', 'not valid', '127.0.0.1', key.slice(0, 16)],
				['mllp.refused', 'address', '127.0.0.9', undefined],
			],
		);
		await service.restart();
		const counts = new Map<string, number>();
		for (const { action, subject, detail } of await rows())
			counts.set(`${action} ${subject}`, (counts.get(`${action} ${subject}`) ?? 0) + detail.times);
		assert.deepEqual([...counts.values()], [10, 50, 50, 10], 'the rest is told when the service ends');
		assert.ok(!JSON.stringify(await rows()).includes('password'));
	});
});
