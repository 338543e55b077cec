import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listClients, setClient } from '#administration/clients.ts';
import { listLoggedMessages, type MessageContext, replayMessages, showLoggedMessage } from '#administration/messages.ts';
import { adt } from '#test/support/adt.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { testService } from '#test/support/service.ts';
import { processInPlace } from '../../src/ingest-in-place.ts';

describe('a refused message', () => {
	test('stays in the log with its bytes and its reason, and is taken when it is replayed under a corrected configuration', async () => {
		await using service = await testService();
		const { key } = await service.addSite('north');
		const client = await MllpClient.connect(service.port('mllp'));
		const answer = msa(await client.send(adt('1', 'A', 1, 'A28')));
		client.close();
		assert.equal(answer.code, 'AE');
		assert.match(answer.text, /A28/);
		const context: MessageContext = {
			...service.administration,
			databaseUrl: service.databaseUrl,
			deliver: (deliveries) => processInPlace(service.databaseUrl, deliveries),
		};
		const [logged] = await listLoggedMessages(context, { site: 'north', outcome: 'refused', limit: 10 });
		assert.equal(logged?.failure_code, 'unsupported-event');
		const whole = await showLoggedMessage(context, logged?.id ?? '');
		assert.match(whole.message[0] ?? '', /^MSH\|.*ADT\^A28/);
		assert.match(whole.ack[1] ?? '', /^MSA\|AE\|1\|/);
		assert.equal((await service.fhir('/fhir/Patient', key)).body.total, 0);

		const [again] = await replayMessages(context, [logged?.id ?? '']);
		assert.equal(again?.outcome, 'refused');
		const [sender] = await listClients(service.administration, 'north');
		await setClient(service.administration, { id: sender?.id ?? '', also: ['A28'] });
		const [replayed] = await replayMessages(context, [logged?.id ?? '']);
		assert.equal(replayed?.outcome, 'accepted');
		assert.equal(replayed?.replay_of, logged?.id);
		assert.equal((await service.fhir('/fhir/Patient?identifier=A', key)).body.total, 1);
		assert.equal((await showLoggedMessage(context, replayed?.id ?? '')).changed.length, 1);

		const resent = await MllpClient.connect(service.port('mllp'));
		assert.equal(
			msa(await resent.send(adt('1', 'A', 1, 'A28'))).code,
			'AA',
			'the sender that comes again is answered by what the replay did',
		);
		resent.close();
		assert.deepEqual(await service.rows('select version from patient'), [{ version: 1 }]);
	});
});
