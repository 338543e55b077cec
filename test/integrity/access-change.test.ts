import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listClients, setClient } from '#administration/clients.ts';
import { listKeys, revokeKey } from '#administration/keys.ts';
import { enableSite } from '#administration/sites.ts';
import { adt } from '#test/support/adt.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, testService } from '#test/support/service.ts';

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
