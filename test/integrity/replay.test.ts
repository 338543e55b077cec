import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listClients, setClient } from '#administration/clients.ts';
import type { AdministrationError } from '#administration/context.ts';
import { listLoggedMessages, readLoggedMessage, replayMessage, replayRefused, showLoggedMessage } from '#administration/messages.ts';
import { newId, nilId } from '#core/id.ts';
import type { StoredInstance } from '#record/instance.ts';
import { packInstance } from '#record/instance-bytes.ts';
import { adt } from '#test/support/adt.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { testService } from '#test/support/service.ts';

describe('a logged message', () => {
	test('stays in the log with its bytes and its reason, and is taken when it is replayed under a corrected configuration', async () => {
		await using service = await testService();
		const { key } = await service.addSite('north');
		const client = await MllpClient.connect(service.port('mllp'));
		const answer = msa(await client.send(adt('1', 'A', 1, 'A28')));
		client.close();
		assert.equal(answer.code, 'AE');
		assert.match(answer.text, /A28/);
		const context = service.administration;
		const [logged] = await listLoggedMessages({ ...context, visibleSites: ['north'] }, { outcome: 'refused', limit: 10 });
		assert.equal(logged?.failure_code, 'unsupported-event');
		const whole = await showLoggedMessage(context, logged?.id ?? '');
		assert.match(whole.message[0] ?? '', /^MSH\|.*ADT\^A28/);
		assert.match(whole.ack[1] ?? '', /^MSA\|AE\|1\|/);
		assert.equal((await service.fhir('/fhir/Patient', key)).body.total, 0);

		const again = await replayMessage(context, logged?.id ?? '');
		assert.equal(again.outcome, 'refused');
		const [sender] = await listClients(service.administration);
		await setClient(service.administration, { id: sender?.id ?? '', also: ['A28'] });
		const replayed = await replayMessage(context, logged?.id ?? '');
		assert.equal(replayed.outcome, 'accepted');
		assert.equal(replayed.replay_of, logged?.id);
		assert.equal((await service.fhir('/fhir/Patient?identifier=A', key)).body.total, 1);
		assert.equal((await showLoggedMessage(context, replayed.id ?? '')).changed.length, 1);

		const resent = await MllpClient.connect(service.port('mllp'));
		assert.equal(
			msa(await resent.send(adt('1', 'A', 1, 'A28'))).code,
			'AA',
			'the sender that comes again is answered by what the replay did',
		);
		resent.close();
		assert.deepEqual(await service.rows('select version from patient'), [{ version: 1 }]);
	});

	test('that was accepted and is no longer the newest about its patient is replayed only on request', async () => {
		await using service = await testService();
		const { key } = await service.addSite('north');
		const client = await MllpClient.connect(service.port('mllp'));
		const context = { ...service.administration, visibleSites: ['north'] };
		const family = async () => (await service.fhir('/fhir/Patient?identifier=A', key)).body.entry[0].resource.name[0].family;
		const named = (controlId: string, name: string) => adt(controlId, 'A', 1).replace(/PID.*/, `PID|1||A^^^MRN||${name}^Alba`);
		for (const [index, name] of ['First', 'First', 'Second'].entries()) {
			assert.equal(msa(await client.send(named(String(index), name))).code, 'AA');
		}
		client.close();
		const [newest, unchanged, first] = await listLoggedMessages(context, { outcome: 'accepted', limit: 10 });
		const idOf = (message: { id: string } | undefined) => message?.id ?? '';
		const [, patientId] = /^Patient\/(.*)\/_history\/1$/.exec((await showLoggedMessage(context, idOf(first))).changed[0] ?? '') ?? [];
		await assert.rejects(replayMessage(context, idOf(first)), (error: AdministrationError) => {
			assert.equal(error.fault, 'conflict');
			assert.match(error.message, new RegExp(`Patient/${patientId}/_history/2 is newer`));
			assert.match(error.message, new RegExp(`the message '${idOf(newest)}' \\(ADT`));
			return true;
		});
		await assert.rejects(replayMessage(context, idOf(unchanged)), /came later/);
		const reading = await readLoggedMessage(context, idOf(first));
		assert.deepEqual([reading.overtaken?.version, reading.overtaken?.message?.id], [`Patient/${patientId}/_history/2`, idOf(newest)]);
		assert.equal((await readLoggedMessage(context, idOf(newest))).overtaken, null);
		assert.equal((await replayMessage(context, idOf(newest))).outcome, 'accepted');
		assert.equal(await family(), 'Second');
		assert.equal((await replayMessage(context, idOf(first), { acceptOlder: true })).outcome, 'accepted');
		assert.equal(await family(), 'First');
	});

	test('that is no message of HL7 v2, FHIR or MPPS is not replayed', async () => {
		await using service = await testService();
		await service.addSite('south');
		const [site] = await service.rows<{ id: string }>('select id from site');
		const context = service.administration;
		const of = { siteId: site?.id ?? '', clientId: nilId, surface: 'dimse' as const, source: '192.0.2.1', receivedAtMs: Date.now() };
		const given = { ...of, settings: {}, withheld: 'crash' as const, bytes: Buffer.from('{"attributes":{"patient":{}}}') };
		const bytes = packInstance({ attributes: { patient: {} } } as StoredInstance, undefined);
		await context.deliver({ ...given, kind: 'instance', id: newId(), bytes });
		await context.deliver({ ...given, kind: 'conflict', id: newId() });
		const refused = () => listLoggedMessages({ ...context, visibleSites: ['south'] }, { outcome: 'refused', limit: 10 });
		const logged = await refused();
		assert.deepEqual(logged.map(({ message_type: type }) => type).sort(), ['C-STORE', 'conflict settle']);
		assert.deepEqual(logged.map(({ kind }) => kind).sort(), ['conflict', 'instance']);
		const ofInstances = await listLoggedMessages({ ...context, visibleSites: ['south'] }, { kind: 'instance', limit: 10 });
		assert.deepEqual(
			ofInstances.map(({ message_type: type }) => type),
			['C-STORE'],
		);
		for (const { id, message_type: type } of logged)
			await assert.rejects(replayMessage(context, id), new RegExp(`has the type ${type}, which cannot be replayed`));
		assert.deepEqual(await replayRefused({ ...context, visibleSites: ['south'] }), []);
		assert.equal((await refused()).length, 2);
	});
});
