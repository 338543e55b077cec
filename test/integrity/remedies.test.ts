import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperationContext } from '#administration/context.ts';
import { dismissReplay, listFailures, listReplays, showReplay } from '#administration/failures.ts';
import { compareMessage, resendMessage, showContent } from '#administration/message-edit.ts';
import { listLoggedMessages, messageRow } from '#administration/messages.ts';
import { applyRemedy } from '#administration/remedies/apply.ts';
import { explainMessage } from '#administration/remedies/explain.ts';
import { previewRemedy } from '#administration/remedies/preview.ts';
import { listSetAside, setCauseAside, setMessageAside, takeMessageUp } from '#administration/set-aside.ts';
import { adt } from '#test/support/adt.ts';
import { sendAll } from '#test/support/mllp-client.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { digestOf, siteTables, writtenBehind } from '#test/support/site-tables.ts';

const ofNorth = (service: TestService): OperationContext => ({ ...service.administration, visibleSites: ['north'] });

async function newest(context: OperationContext, type: string) {
	const [message] = await listLoggedMessages(context, { type, limit: 1 });
	return messageRow(context, message?.id ?? '');
}

/** A digest of each table that a trial must leave as it is: of all but those that are written behind answers. */
async function stateOf(service: TestService): Promise<string[]> {
	const tables = (await siteTables(service)).filter((table) => !writtenBehind.includes(table));
	return Promise.all(tables.map(async (table) => `${table} ${await digestOf(service, table)}`));
}

describe('from failure to remedy', () => {
	test('a refused message is explained, tried with a remedy, mended, replayed, and read by FHIR', async () => {
		await using service = await testService();
		const { key } = await service.addSite('north');
		const context = ofNorth(service);
		assert.deepEqual(await sendAll(service, adt('1', 'A', 1, 'A28'), adt('2', 'B', 2, 'A28'), adt('3', '', 3, 'A28')), ['AE', 'AE', 'AE']);
		const row = await messageRow(context, (await listFailures(context, {}))[0]?.last_id ?? '');
		const { fault, remedies, cause } = await explainMessage(context, row);
		assert.deepEqual(
			[fault?.code, fault?.place, fault?.location, fault?.section],
			['unsupported-event', 'MSH-9 (Message Type)', { segment: 'MSH', sequence: 1, field: 9 }, 'HL7 v2.5.1 §2.15.9.9 (MSH-9, table 0003)'],
		);
		assert.deepEqual(
			remedies.map(({ remedy, of, subject }) => [remedy, of, subject]),
			['accept-event', 'ignore-event'].map((name) => [name, 'client', row.client_id]),
		);
		assert.deepEqual([cause?.open, cause?.previous], [true, null]);
		assert.notEqual(cause?.next, null);

		const before = await stateOf(service);
		const untouched = await previewRemedy(context, {}, row);
		assert.deepEqual([untouched.waiting, untouched.tried, untouched.accepted, untouched.refused, untouched.unchanged], [3, 3, 0, 3, true]);
		const tried = await previewRemedy(context, { remedy: 'accept-event' }, row);
		assert.deepEqual(
			[tried.accepted, tried.refused_for],
			[2, [{ code: 'required-field-missing', failure: 'PID-3 has no identifier in any repetition', messages: 1 }]],
		);
		assert.equal((await previewRemedy(context, { remedy: 'ignore-event' }, row)).ignored, 3);
		assert.deepEqual(await stateOf(service), before, 'a trial writes');

		const { settings, replay } = await applyRemedy(context, { remedy: 'accept-event', replay: true }, row);
		assert.deepEqual(settings, { also: ['A28'] });
		const run = replay?.id ?? '';
		await eventually(async () => (await showReplay(context, run)).state !== 'running', 'the end of the replay');
		const { accepted, refused, ignored, known, other } = await showReplay(context, run);
		assert.deepEqual({ accepted, refused, ignored, known, other }, { accepted: 2, refused: 1, ignored: 0, known: 0, other: 0 });
		const { body } = await service.fhir('/fhir/Patient?identifier=B', key);
		assert.equal(body.entry?.length, 1);

		await dismissReplay(context, run);
		assert.deepEqual(
			[(await listReplays(context, { limit: 5 })).length, (await listReplays(context, { limit: 5, dismissed: true })).length],
			[0, 1],
		);
		const [waiting] = (await listFailures(context, {})).filter(({ open }) => open > 0);
		assert.deepEqual([waiting?.surface, waiting?.failure, waiting?.open], ['mllp', 'PID-3 has no identifier in any repetition', 1]);
		const left = await messageRow(context, waiting?.last_id ?? '');
		const still = await explainMessage(context, left);
		assert.deepEqual(
			[still.fault?.wrong, still.fault?.asks, still.fault?.section],
			[
				'PID-3 (Patient Identifier List): a value that the message needs is missing.',
				'PID-3 has a value of the data type CX.',
				'HL7 v2.5.1 §3.4.2.3',
			],
		);
		assert.equal((await previewRemedy(context, {}, left)).unchanged, true, 'nothing was changed since that refusal');
		await assert.rejects(previewRemedy(context, { remedy: 'ignore-event' }, left), { fault: 'refused' });
	});

	test('what will never be mended is set aside with a reason, listed, taken up again, and audited without the reason', async () => {
		await using service = await testService();
		await service.addSite('north');
		await service.addSite('east', { allowed_ips: ['192.0.2.1'] });
		const context = ofNorth(service);
		await sendAll(service, adt('1', '', 1), adt('2', '', 2), adt('3', 'C', 3));
		const row = await newest(context, 'ADT^A08');
		await assert.rejects(setMessageAside(context, row, 'accepted'), /only a refused message/);
		const [cause] = await listFailures(context, {});
		const first = await messageRow(context, cause?.last_id ?? '');
		assert.deepEqual(await setMessageAside(context, first, 'Ann Number2 was a test'), { messages: 1 });
		await assert.rejects(setMessageAside(context, first, 'again'), { fault: 'conflict' });
		const counts = async () => (await listFailures(context, {})).map(({ messages, open, set_aside: aside }) => [messages, open, aside]);
		assert.deepEqual(await counts(), [[2, 1, 1]]);
		assert.deepEqual(await setCauseAside(context, { site: 'north', cause: cause?.id ?? '', reason: 'all of them' }), { messages: 1 });
		assert.deepEqual(await counts(), [[2, 0, 2]]);
		const listed = await listSetAside(context, { limit: 10 });
		assert.deepEqual(
			listed.map(({ control_id: id, reason }) => [id, reason]),
			[
				['2', 'Ann Number2 was a test'],
				['1', 'all of them'],
			],
		);
		assert.deepEqual(await listSetAside({ ...context, visibleSites: ['east'] }, { limit: 10 }), []);
		assert.equal((await explainMessage(context, first)).set_aside?.reason, 'Ann Number2 was a test');
		await takeMessageUp(context, first);
		assert.deepEqual(await counts(), [[2, 1, 1]]);
		const events = await service.rows<{ action: string; detail: string }>(
			"select action, detail::text as detail from audit_event where action like 'messages.%' order by id",
		);
		assert.deepEqual(
			events.map(({ action }) => action),
			['messages.set-aside', 'messages.set-aside', 'messages.take-up'],
		);
		assert.ok(events.every(({ detail }) => !/Ann|all of them/.test(detail)));
	});

	test('an edited message is a new one that names its original; who edited it, and what, is shown', async () => {
		await using service = await testService();
		const { key } = await service.addSite('north');
		const context = ofNorth(service);
		assert.deepEqual(await sendAll(service, adt('1', '', 1).replace('Number1', 'Müller')), ['AE']);
		const row = await newest(context, 'ADT^A08');
		const { text, editable, base64 } = await showContent(context, row);
		assert.ok(editable);
		assert.equal(Buffer.from(base64, 'base64').toString(), row.bytes.toString());
		await assert.rejects(resendMessage(context, text, row), { field: 'content' });
		const { id, outcome, replay_of: original } = await resendMessage(context, text.replace('||^^^MRN', '||4711^^^MRN'), row);
		assert.deepEqual([outcome, original], ['accepted', row.id]);
		const kept = await messageRow(context, row.id);
		assert.deepEqual([kept.bytes.equals(row.bytes), kept.outcome], [true, 'refused']);
		const { body } = await service.fhir('/fhir/Patient?identifier=4711', key);
		assert.equal(body.entry?.[0]?.resource.name[0].family, 'Müller');
		const edited = await messageRow(context, id);
		const { edit } = await explainMessage(context, edited);
		assert.deepEqual([edit?.original, edit?.actor], [row.id, context.actor.name]);
		const { lines } = await compareMessage(context, edited);
		assert.deepEqual(
			lines.map(({ mark }) => mark),
			['same', 'same', 'removed', 'added', 'same'],
		);
		assert.equal((await listFailures(context, {}))[0]?.open, 0, 'the original waits no longer');
		const [event] = await service.rows<{ detail: unknown }>("select detail from audit_event where action = 'messages.edit'");
		assert.deepEqual(event?.detail, { after: { message: id } });
	});

	test('a FHIR request is mended by a setting of its site, and edited in its body alone', async () => {
		await using service = await testService();
		const { key } = await service.addSite('north');
		const context = ofNorth(service);
		const post = async (type: string, body: object) => {
			const headers = { 'X-API-Key': key, 'Content-Type': 'application/fhir+json' };
			const url = `http://127.0.0.1:${service.port('fhir')}/fhir${type === '' ? '' : `/${type}`}`;
			return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status;
		};
		await eventually(async () => (await service.fhir('/fhir/Patient', key)).status === 200, 'the key');
		const report = { resourceType: 'DiagnosticReport', status: 'final', code: { text: 'Panel' } };
		const entry = [{ resource: report, request: { method: 'POST', url: 'DiagnosticReport' } }];
		assert.equal(await post('', { resourceType: 'Bundle', type: 'transaction', entry }), 405);
		const [logged] = await service.rows<{ id: string }>("select id from message_log where outcome = 'refused'");
		const row = await messageRow(context, logged?.id ?? '');
		const { fault, remedies } = await explainMessage(context, row);
		assert.deepEqual(
			[fault?.code, remedies.map(({ remedy, of, subject }) => [remedy, of, subject])],
			['method-not-allowed', [['clients-write-reports', 'site', 'north']]],
		);
		const before = await stateOf(service);
		assert.equal((await previewRemedy(context, { remedy: 'clients-write-reports' }, row)).accepted, 1);
		assert.deepEqual(await stateOf(service), before);
		const { settings, replay } = await applyRemedy(context, { remedy: 'clients-write-reports', replay: true }, row);
		assert.deepEqual(settings, { report_writes: true });
		await eventually(async () => (await showReplay(context, replay?.id ?? '')).state !== 'running', 'the end of the replay');
		assert.equal((await service.fhir('/fhir/DiagnosticReport', key)).body.entry?.length, 1);

		assert.equal(await post('Observation', { resourceType: 'Observation', code: { text: 'x' } }), 400);
		const wrong = await newest(context, 'POST Observation');
		assert.deepEqual((await explainMessage(context, wrong)).fault?.location, { expression: 'Observation.status' });
		const { text } = await showContent(context, wrong);
		assert.deepEqual(JSON.parse(text), { resourceType: 'Observation', code: { text: 'x' } });
		const { outcome } = await resendMessage(context, text.replace('"code"', '"status":"final","code"'), wrong);
		assert.equal(outcome, 'accepted');
		assert.equal((await service.fhir('/fhir/Observation?status=final', key)).body.entry?.length, 1);
	});
});
