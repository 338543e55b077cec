import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listClients, setClient } from '#administration/clients.ts';
import { setKey } from '#administration/keys.ts';
import { setSite } from '#administration/sites.ts';
import { adt } from '#test/support/adt.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type TestService, testService } from '#test/support/service.ts';

describe('settings of sites and senders', () => {
	let service: TestService;
	before(async () => {
		service = await testService();
	});
	after(() => service[Symbol.asyncDispose]());

	const post = async (key: string, message: string) => {
		const answer = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
			body: message,
		});
		return { status: answer.status, body: (await answer.json()) as { ack?: string; error?: string } };
	};
	const keyId = (key: string) => key.split('_')[1] ?? '';

	test('an HTTP sender opts in to events and ignores types by its key, else by its site, from the next message on', async () => {
		const { key } = await service.addSite('opting', { allowed_ips: ['127.20.0.1'] });
		const context = service.administration;
		const ignored = adt('2', 'A', 1, 'A08').replace('ADT^A08', 'ORM^O01');
		assert.equal((await post(key, adt('1', 'A', 1, 'A03'))).status, 422);
		assert.equal((await post(key, ignored)).status, 422);
		await setKey(context, { id: keyId(key), also: ['A03'], ignore: ['ORM^O01'] });
		assert.equal((await post(key, adt('1', 'A', 1, 'A03'))).status, 200);
		assert.equal((await post(key, ignored)).status, 200);
		await setKey(context, { id: keyId(key), also: [] });
		assert.equal((await post(key, adt('3', 'A', 1, 'A03'))).status, 422);
		await setSite(context, { slug: 'opting', also: ['A03'] });
		assert.equal((await post(key, adt('3', 'A', 1, 'A03'))).status, 200);
		const outcomes = await service.rows('select distinct message_type, outcome from message_log order by 1, 2');
		assert.deepEqual(outcomes, [
			{ message_type: 'ADT^A03', outcome: 'accepted' },
			{ message_type: 'ADT^A03', outcome: 'refused' },
			{ message_type: 'ORM^O01', outcome: 'ignored' },
			{ message_type: 'ORM^O01', outcome: 'refused' },
		]);
	});

	test('identifiers without an authority belong to that of the client or the key, else of the site', async () => {
		const { key } = await service.addSite('authority', { allowed_ips: ['127.20.0.2'] });
		const context = service.administration;
		await setSite(context, { slug: 'authority', default_authority: 'urn:oid:1.1' });
		const client = await MllpClient.connect(service.port('mllp'), '127.20.0.2');
		const bare = (id: string, number: string) => adt(id, number, 1).replace('^^^MRN^MR', '');
		const systemOf = async (number: string) => {
			const { body } = await service.fhir(`/fhir/Patient?identifier=${number}`, key);
			return body.entry?.map(({ resource }: { resource: { identifier: { system?: string }[] } }) => resource.identifier[0]?.system);
		};
		assert.equal(msa(await client.send(bare('1', 'S1'))).code, 'AA');
		const [sender] = (await listClients({ ...context, visibleSites: ['authority'] })).filter(({ site }) => site === 'authority');
		await setClient(context, { id: sender?.id ?? '', default_authority: 'urn:oid:1.2' });
		assert.equal(msa(await client.send(bare('2', 'C1'))).code, 'AA');
		client.close();
		await setKey(context, { id: keyId(key), default_authority: 'urn:oid:1.3' });
		assert.equal((await post(key, bare('3', 'K1'))).status, 200);
		assert.deepEqual(
			[await systemOf('S1'), await systemOf('C1'), await systemOf('K1')],
			[['urn:oid:1.1'], ['urn:oid:1.2'], ['urn:oid:1.3']],
		);
	});
});
