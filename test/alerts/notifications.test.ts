import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import type { Actor } from '#administration/context.ts';
import { operations } from '#administration/operations/index.ts';
import { perform } from '#administration/perform.ts';
import { addUser } from '#administration/users.ts';
import type { Alert } from '#alerts/judged.ts';
import { signatureOf } from '#alerts/sender.ts';
import { newId } from '#core/id.ts';
import { alertRecorder } from '#test/support/alert-recorder.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { type WebhookReceiver, webhookReceiver } from '#test/support/webhook-receiver.ts';

async function mailServer() {
	const mails: { to: string[]; text: string }[] = [];
	const server = new SMTPServer({
		authOptional: true,
		disabledCommands: ['STARTTLS'],
		onData(stream, { envelope }, done) {
			void text(stream).then((content) => {
				mails.push({ to: envelope.rcptTo.map(({ address }) => address), text: content });
				done();
			});
		},
	});
	server.listen(0, '127.0.0.1');
	await once(server.server, 'listening');
	return { mails, url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`, close: () => server.close(() => undefined) };
}

describe('notifications', () => {
	let service: TestService;
	let other: ServiceProcess;
	let webhook: WebhookReceiver;
	let mail: Awaited<ReturnType<typeof mailServer>>;

	const act = (name: string, input: object, actor?: Actor): Promise<FhirBody> => {
		const operation = operations.find((one) => one.name === name) ?? assert.fail(name);
		return perform(operation, { ...service.administration, ...(actor && { actor }) }, input) as Promise<FhirBody>;
	};

	/** A node of the network says which alerts fire. */
	const recorders = ['a', 'b'].map((nodeId) => ({
		record: (alerts: readonly Alert[]) => alertRecorder(service.administration.database, nodeId).record(alerts),
	}));
	const alertOf = (of: Partial<Alert>): Alert => ({
		...{
			key: `${of.name ?? 'TributaryKeysExpiring'} {}`,
			name: 'TributaryKeysExpiring',
			sinceMs: Date.now(),
			summary: 'API keys expire soon',
		},
		...{ severity: 'warning', site: undefined, ofNetwork: true, list: '/keys', ...of },
	});
	/** No node has seen it for longer than ALERT_END_MS. */
	const end = async () => {
		await service.rows("update alert set seen_at = now() - interval '2 minutes' where ended_at is null");
		await Promise.all(recorders.map(({ record }) => record([])));
	};
	const quiet = () =>
		eventually(async () => (await service.rows("select from notification_delivery where state = 'waiting'")).length === 0, 'all was sent');

	before(async () => {
		[webhook, mail] = await Promise.all([webhookReceiver(), mailServer()]);
		const environment = {
			SMTP_URL: mail.url,
			SMTP_FROM: 'tributary@example.org',
			SECOND_FACTOR_KEY: randomBytes(32).toString('base64'),
			NOTIFICATION_RETRY_MS: '10',
			NOTIFICATION_ATTEMPTS_MAX: '4',
			NOTIFICATION_MS_MAX: '5000',
			NODE_NAME: 'node-1',
		};
		service = await testService(environment);
		other = new ServiceProcess({ ...environment, NODE_NAME: 'node-2', DATABASE_URL: service.databaseUrl });
		await other.start();
		for (const slug of ['north', 'south']) await service.addSite(slug, { sending_application: 'LAB' });
		await addUser(service.administration, { email: 'ann@example.org', sites: ['north'] });
	});
	after(async () => {
		await other[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		await webhook[Symbol.asyncDispose]();
		mail.close();
	});

	test('two nodes and a restart in between: one start and one end, signed, and by mail', async () => {
		const { id, secret } = await act('notification add', { by: 'webhook', to: webhook.url, network: true });
		await act('notification add', { by: 'email', user: 'owner@example.org' });
		const alert = alertOf({});
		await Promise.all([0, 1, 2, 3].flatMap(() => recorders.map(({ record }) => record([alert]))));
		await eventually(() => webhook.calls.length > 0 && mail.mails.length > 0, 'the start is told');
		await service.restart();
		await Promise.all(recorders.map(({ record }) => record([alert])));
		await quiet();
		assert.deepEqual([webhook.calls.length, mail.mails.length], [1, 1]);
		await end();
		await eventually(() => webhook.calls.length > 1 && mail.mails.length > 1, 'the end is told');
		await quiet();
		assert.deepEqual(
			webhook.calls.map(({ notice }) => notice.event),
			['alert.start', 'alert.end'],
		);
		for (const { headers, body, notice } of webhook.calls) {
			const timestamp = String(headers['tributary-timestamp']);
			assert.ok(Math.abs(Number(timestamp) - Date.now() / 1000) < 300);
			assert.equal(headers['tributary-signature'], signatureOf(Buffer.from(secret, 'base64url'), timestamp, body));
			assert.equal(headers['tributary-delivery'], notice.id);
			assert.deepEqual([notice.alert.name, notice.alert.node, notice.alert.site], ['TributaryKeysExpiring', null, null]);
			assert.match(notice.alert.runbook, /tributary key rotate/);
			assert.match(notice.alert.list ?? '', /^http:\/\/127\.0\.0\.1:\d+\/keys$/, 'ADMIN_URL is unset, so it is the listening address');
		}
		assert.deepEqual(
			mail.mails.map(({ to, text: content }) => [to, /^Subject: (.*)$/m.exec(content)?.[1]?.trim()]),
			[
				[['owner@example.org'], '[Tributary] Warning: API keys expire soon'],
				[['owner@example.org'], '[Tributary] Ended: API keys expire soon'],
			],
		);
		assert.match(mail.mails[0]?.text.replaceAll('=\r\n', '') ?? '', /^Look here: http:\/\/127\.0\.0\.1:\d+\/keys\r?$/m);
		const sent = await act('notification deliveries', { id });
		assert.deepEqual(
			sent.map(({ event, state, attempts }: FhirBody) => [event, state, attempts]),
			[
				['end', 'sent', 1],
				['start', 'sent', 1],
			],
		);
		assert.deepEqual(await act('alert list', {}), []);
		await act('notification remove', { id });
	});

	test('a receiver that is away is tried again; what is given up is listed, counted, and an alert of its own', async () => {
		const { id } = await act('notification add', { by: 'webhook', to: webhook.url, site: 'north' });
		webhook.calls.length = 0;
		webhook.status = 503;
		const refused = (site: string) =>
			alertOf({
				key: `TributaryRefusalsHigh ${site}`,
				name: 'TributaryRefusalsHigh',
				site,
				summary: `many messages of site ${site} are refused`,
			});
		await recorders[0]?.record([refused('north'), refused('south')]);
		await eventually(() => webhook.calls.length === 2, 'two attempts');
		webhook.status = 200;
		await quiet();
		assert.equal(new Set(webhook.calls.map(({ headers }) => headers['tributary-delivery'])).size, 1, 'each attempt has the same id');
		assert.deepEqual(
			webhook.calls.map(({ notice }) => notice.alert.site).filter((site) => site !== 'north'),
			[],
		);
		webhook.status = 500;
		await end();
		await eventually(async () => (await act('notification deliveries', { id }))[0].state === 'failed', 'it is given up');
		const [failed] = await act('notification deliveries', { id });
		assert.deepEqual([failed.event, failed.attempts, failed.reason], ['end', 4, 'the receiver answered 500']);
		await eventually(
			async () =>
				(await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text()).includes('tributary_notifications_failing 1'),
			'the metric tells',
		);
		await eventually(
			async () => (await act('alert list', {})).some(({ name }: FhirBody) => name === 'TributaryNotificationsFailed'),
			'the alert',
		);
		webhook.status = 200;
		await act('notification remove', { id });
	});

	test('what a node that died had claimed is sent by another one when the claim has run out', async () => {
		const { id } = await act('notification add', { by: 'webhook', to: webhook.url, network: true });
		webhook.calls.length = 0;
		webhook.status = 500;
		await recorders[0]?.record([
			alertOf({ key: 'TributaryAuditNotSent {}', name: 'TributaryAuditNotSent', summary: 'the audit trail cannot be sent' }),
		]);
		await service.rows(
			"update notification_delivery set holder = $2, held_until = now() + interval '1 second', attempts = 1 where notification_id = $1",
			[id, newId()],
		);
		webhook.status = 200;
		await eventually(async () => (await act('notification deliveries', { id }))[0].state === 'sent', 'it is sent');
		await end();
		await quiet();
		await act('notification remove', { id });
	});

	test('an alert of a node names it, and reaches whoever may see it', async () => {
		mail.mails.length = 0;
		await act('notification add', { by: 'email', user: 'ann@example.org' });
		const socket = connect(service.port('mllp'), '127.0.0.1');
		socket.end('\vMSH|^~\\&|NOBODY|NOWHERE|||20260105||ADT^A01|1|P|2.5.1\rPID|1||1^^^MRN\x1c\r');
		socket.resume();
		const told = () => mail.mails.filter(({ text: content }) => content.includes('no matching site for messages'));
		await eventually(() => told().length > 0, 'the alert is told');
		assert.match(told()[0]?.text ?? '', /No matching site for messages on node-1: MSH-3 and MSH-4 match no client/);
		assert.doesNotMatch(mail.mails.map(({ text: content }) => content).join(), /NOBODY|NOWHERE/);
		assert.deepEqual(
			told().flatMap(({ to }) => to),
			['owner@example.org'],
			'Ann sees one site, and this is about the node',
		);
		const listed = (await act('alert list', {})).find(({ node }: FhirBody) => node !== null);
		assert.deepEqual([listed.name, listed.node, listed.list], ['TributaryUnmatchedMessages', 'node-1', '/unmatched']);
	});

	test('a test says whether it came through', async () => {
		webhook.calls.length = 0;
		const hook = await act('notification add', { by: 'webhook', to: webhook.url, network: true });
		assert.equal((await act('notification test', { id: hook.id })).outcome, 'sent');
		assert.equal(webhook.calls[0]?.notice.event, 'test');
		const nowhere = await act('notification add', { by: 'webhook', to: 'http://127.0.0.1:1/', network: true });
		const { outcome, reason } = await act('notification test', { id: nowhere.id });
		assert.deepEqual([outcome, reason], ['failed', 'ECONNREFUSED']);
	});

	test('a redirect is not followed: it is no success, and what is signed goes nowhere else', async () => {
		const { id } = await act('notification add', { by: 'webhook', to: webhook.url, network: true });
		for (const status of [301, 302, 307, 308]) {
			webhook.calls.length = 0;
			webhook.status = status;
			const { outcome, reason } = await act('notification test', { id });
			assert.deepEqual([outcome, reason, webhook.calls.length], ['failed', `the receiver answered ${status}`, 1]);
		}
		webhook.status = 200;
		await act('notification remove', { id });
	});

	test('a receiver that takes too long is tried again by the same id, and may get a webhook twice', async () => {
		const { id } = await act('notification add', { by: 'webhook', to: webhook.url, network: true });
		webhook.calls.length = 0;
		webhook.status = undefined;
		await recorders[0]?.record([alertOf({ key: 'TributaryDiskFull {}', name: 'TributaryDiskFull', summary: 'the disk is full' })]);
		await eventually(async () => {
			const [delivery] = await act('notification deliveries', { id });
			return delivery?.state === 'waiting' && delivery.reason === 'it takes too long';
		}, 'the time is over');
		webhook.status = 200;
		await eventually(async () => (await act('notification deliveries', { id }))[0].state === 'sent', 'it is sent');
		const [delivery] = await act('notification deliveries', { id });
		const calls = webhook.calls.filter(({ headers }) => headers['tributary-delivery'] === delivery.id);
		assert.deepEqual([delivery.attempts, delivery.reason], [calls.length, null]);
		assert.ok(calls.length > 1);
		await end();
		await quiet();
		await act('notification remove', { id });
	});

	test('a person decides about oneself, a manager about a site, an administrator about all; nobody about what others see', async () => {
		const ann: Actor = { name: 'ann@example.org', role: 'manager', sites: ['north'] };
		const bob: Actor = { name: 'bob@example.org', role: 'auditor', sites: ['north'] };
		const own = await act('notification add', { by: 'email', sites: ['north'], severities: ['critical'] }, ann);
		assert.deepEqual([own.to, own.user, own.sites, own.severities], ['ann@example.org', 'ann@example.org', ['north'], ['critical']]);
		assert.equal((await act('notification set', { id: own.id, active: false }, ann)).active, false);
		const refusals: [string, object, Actor, RegExp][] = [
			['notification add', { by: 'email', sites: ['south'] }, ann, /do not have access to the site 'south'/],
			['notification add', { by: 'email', user: 'owner@example.org' }, ann, /of another person/],
			['notification add', { by: 'webhook', to: webhook.url, network: true }, ann, /of the network/],
			['notification add', { by: 'webhook', to: webhook.url, site: 'north' }, bob, /of a site that you do not manage/],
			['notification add', { by: 'webhook', to: 'http://10.0.0.1/', site: 'north' }, ann, /a URL with https is needed/],
			['notification add', { by: 'webhook', to: 'https://169.254.169.254/', site: 'north' }, ann, /ALLOWED_TARGETS does not permit it/],
			['notification add', { by: 'email', to: 'ann@elsewhere.example' }, ann, /at the address of the account/],
			['notification set', { id: own.id, active: true }, bob, /there is no notification/],
			['notification add', { by: 'email' }, { name: 'cli:root', role: 'administrator', sites: 'all' }, /say who is told/],
		];
		for (const [name, input, actor, message] of refusals) await assert.rejects(act(name, input, actor), { message });
	});
});
