import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setClient } from '#administration/clients.ts';
import type { OperationContext } from '#administration/context.ts';
import { cancelReplay, listFailures, listReplays, showReplay, startReplay } from '#administration/failures.ts';
import { listLoggedMessages, readLoggedMessage } from '#administration/messages.ts';
import { ReplayRuns } from '#administration/replay-runs.ts';
import { Failure } from '#core/failure.ts';
import { silentLog } from '#core/log.ts';
import { adt } from '#test/support/adt.ts';
import { sendAll } from '#test/support/mllp-client.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

const north = (service: TestService): OperationContext => ({ ...service.administration, visibleSites: ['north'] });

async function allow(service: TestService, ...also: string[]): Promise<void> {
	const [client] = await service.rows<{ id: string }>('select id from integration_client');
	await setClient(service.administration, { id: client?.id ?? '', also });
}

async function ended(context: OperationContext, id: string) {
	await eventually(async () => (await showReplay(context, id)).state !== 'running', 'the end of the replay');
	return showReplay(context, id);
}

describe('failures', () => {
	test('are grouped by cause; a resend and a replay mend, a replay that is refused again counts anew', async () => {
		await using service = await testService();
		await service.addSite('north');
		await service.addSite('east', { allowed_ips: ['192.0.2.1'] });
		const context = north(service);
		await sendAll(
			service,
			adt('1', 'A', 1, 'A28'),
			adt('2', 'B', 2, 'A28'),
			adt('2', 'B', 2, 'A28'),
			adt('3', 'C', 3, 'A11'),
			adt('4', '', 4),
			adt('5', 'D', 5),
		);
		const groups = await listFailures(context, {});
		assert.deepEqual(
			groups
				.map(({ message_type: type, failure_code: code, messages, open, replayable }) => [type, code, messages, open, replayable])
				.sort(),
			[
				['ADT^A08', 'required-field-missing', 1, 1, true],
				['ADT^A11', 'unsupported-event', 1, 1, true],
				['ADT^A28', 'unsupported-event', 3, 3, true],
			],
		);
		assert.deepEqual(await listFailures({ ...context, visibleSites: ['east'] }, {}), []);
		const cause = groups.find(({ messages }) => messages === 3) ?? assert.fail();
		const listed = await listLoggedMessages(context, { cause: cause.id, limit: 10 });
		assert.deepEqual(
			listed.map(({ control_id: id }) => id),
			['2', '2', '1'],
		);
		assert.equal(cause.last_id, listed[0]?.id);

		const about = async (patient: string) =>
			(await listLoggedMessages(context, { patient, limit: 10 })).map(({ control_id: id, outcome }) => `${id} ${outcome}`);
		assert.deepEqual([await about('C'), await about('D'), await about('nobody')], [['3 refused'], ['5 accepted'], []]);

		// Mended by its sender: all that was sent under the control id.
		await allow(service, 'A28', 'A13');
		let probes = 0;
		await eventually(async () => (await sendAll(service, adt(`probe ${probes++}`, 'P', 9, 'A13')))[0] === 'AA', 'the new policy');
		await sendAll(service, adt('2', 'B', 2, 'A28'));
		const after = await listFailures(context, {});
		assert.deepEqual(
			after.filter(({ id }) => id === cause.id).map(({ messages, open }) => [messages, open]),
			[[3, 1]],
		);
		const run = await startReplay(context, { site: 'north', cause: cause.id });
		assert.deepEqual(await ended(context, run.id).then(({ state, total, done, accepted }) => [state, total, done, accepted]), [
			'done',
			1,
			1,
			1,
		]);
		assert.equal((await listFailures(context, {})).find(({ id }) => id === cause.id)?.open, 0);
		await assert.rejects(startReplay(context, { site: 'north', cause: cause.id }), /this cause has no message to replay/);

		// Refused again: it counts in the place of its message, under the same cause.
		const other = groups.find(({ message_type: type }) => type === 'ADT^A11') ?? assert.fail();
		const again = await startReplay(context, { site: 'north', cause: other.id });
		assert.deepEqual(await ended(context, again.id).then(({ refused, accepted }) => [refused, accepted]), [1, 0]);
		const open = (await listFailures(context, {})).filter(({ message_type: type }) => type === 'ADT^A11');
		assert.deepEqual(
			open.map(({ id, surface, messages, open: waiting }) => [id, surface, messages, waiting]),
			[[other.id, 'mllp', 1, 1]],
		);
		const [message] = await listLoggedMessages(context, { type: 'ADT^A11', surface: 'mllp', limit: 1 });
		const read = await readLoggedMessage(context, message?.id ?? '');
		assert.deepEqual(
			read.replays.map(({ outcome }) => outcome),
			['refused'],
		);
		const events = await service.rows(
			"select action, detail->'after'->>'message_type' as type from audit_event where action like 'replay.%'",
		);
		assert.deepEqual(events, [
			{ action: 'replay.start', type: 'ADT^A28' },
			{ action: 'replay.start', type: 'ADT^A11' },
		]);
	});

	test('are taken again in order, one replay of a site at a time; what is cancelled stops, and another node tells', async () => {
		await using service = await testService();
		await service.addSite('north');
		await sendAll(service, ...['1', '2', '3', '4', '5', '6'].map((id) => adt(id, 'A', id, 'A28')));
		await allow(service, 'A28');
		const [cause] = await listFailures(north(service), {});
		const order: string[] = [];
		let pass: () => void = () => undefined;
		const third = new Promise<void>((resolve) => {
			pass = resolve;
		});
		const context: OperationContext = {
			...north(service),
			deliver: async (delivery) => {
				order.push(Buffer.from(delivery.bytes).toString().split('|')[9] ?? '');
				if (order.length === 3) await third;
				// The service cannot store for a moment: the message is tried again.
				if (order.length === 1) throw new Failure('unavailable', 'the mailbox is full');
				return service.administration.deliver(delivery);
			},
		};
		const run = await startReplay(context, { site: 'north', cause: cause?.id ?? '' });
		await eventually(() => order.length === 3, 'the second message');
		await assert.rejects(startReplay(context, { site: 'north', cause: cause?.id ?? '' }), { fault: 'conflict' });
		assert.equal((await cancelReplay(north(service), run.id)).state, 'cancelled');
		pass();
		await service.administration.replayRuns.close();
		assert.deepEqual(order.slice(0, 3), ['1', '1', '2']);
		assert.ok(order.length < 7, 'a cancelled replay goes on');
		const [open] = await listFailures(north(service), {});
		assert.equal(open?.open, 4, 'what was not taken again waits');
		assert.deepEqual(
			(await listReplays(north(service), { limit: 10 })).map(({ state, total }) => [state, total]),
			[['cancelled', 6]],
		);
	});

	test('a replay whose node has ended goes on where it was, on a node that is there; the first stops when it is back', async () => {
		await using service = await testService();
		await service.addSite('north');
		await sendAll(service, ...['1', '2', '3', '4'].map((id) => adt(id, `P${id}`, 1, 'A28')));
		await allow(service, 'A28');
		const [cause] = await listFailures(north(service), {});
		const lost = new ReplayRuns(silentLog);
		let delivered = 0;
		let back: () => void = () => undefined;
		const stands = new Promise<void>((resolve) => {
			back = resolve;
		});
		const context: OperationContext = {
			...north(service),
			replayRuns: lost,
			deliver: async (delivery) => {
				// It stands still with the second message, which it has not delivered.
				if (++delivered === 2) await stands;
				return service.administration.deliver(delivery);
			},
		};
		const run = await startReplay(context, { site: 'north', cause: cause?.id ?? '' });
		await eventually(() => delivered === 2, 'the second message');
		await assert.rejects(startReplay(north(service), { site: 'north', cause: cause?.id ?? '' }), { fault: 'conflict' });
		await service.rows("update replay_run set seen_at = now() - interval '2 minutes'");
		await service.restart();
		const whole = await ended(north(service), run.id);
		assert.deepEqual([whole.state, whole.total, whole.done, whole.accepted + whole.skipped, whole.refused], ['done', 4, 4, 4, 0]);
		assert.equal(whole.actor, run.actor, 'it is still the run of whoever began it');
		back();
		await lost.settled();
		assert.deepEqual(await showReplay(north(service), run.id), whole, 'the first node changes nothing more');
		assert.deepEqual([delivered, (await listFailures(north(service), {})).filter(({ open }) => open > 0)], [2, []]);
		assert.deepEqual(await service.rows('select attempt from replay_run'), [{ attempt: 2 }]);
	});

	test('a replay whose node ends in an orderly way is taken up at once', async () => {
		await using service = await testService();
		await service.addSite('north');
		await sendAll(service, adt('1', 'A', 1, 'A28'), adt('2', 'B', 2, 'A28'));
		await allow(service, 'A28');
		const [cause] = await listFailures(north(service), {});
		const ending = new ReplayRuns(silentLog);
		let delivered = 0;
		const context: OperationContext = {
			...north(service),
			replayRuns: ending,
			deliver: async () => {
				delivered++;
				throw new Failure('unavailable', 'the node ends');
			},
		};
		const run = await startReplay(context, { site: 'north', cause: cause?.id ?? '' });
		await eventually(() => delivered > 0, 'the first message');
		await ending.close();
		assert.equal((await showReplay(north(service), run.id)).state, 'running');
		await service.restart();
		const { state, accepted } = await ended(north(service), run.id);
		assert.deepEqual([state, accepted], ['done', 2]);
	});
});
