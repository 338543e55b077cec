import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { operations } from '#administration/operations/index.ts';
import { perform } from '#administration/perform.ts';
import { AwayTeller } from '#alerts/away-teller.ts';
import type { Alert } from '#alerts/judged.ts';
import { AlertRecorder } from '#alerts/recorder.ts';
import { silentLog } from '#core/log.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { readNodeRecipients } from '#storage/statements/administrative/notify.ts';
import { type TestAdministration, testAdministration } from '#test/support/administration.ts';
import { giveBack, takeAway } from '#test/support/database-away.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { type WebhookReceiver, webhookReceiver } from '#test/support/webhook-receiver.ts';
import { createMetrics } from '../../src/metrics.ts';

const act = (context: TestService['administration'] | TestAdministration['context'], name: string, input: object) => {
	const operation = operations.find((one) => one.name === name) ?? assert.fail(name);
	return perform(operation, { ...context }, input) as Promise<FhirBody>;
};

/** The columns of a delivery that say how it was told. */
const told = ({ event, state, attempts, reason }: FhirBody) => [event, state, attempts, reason];

describe('while the database is away', () => {
	let service: TestService;
	let webhook: WebhookReceiver;
	let elsewhere: WebhookReceiver;

	before(async () => {
		[webhook, elsewhere] = [await webhookReceiver(), await webhookReceiver()];
		service = await testService({
			SECOND_FACTOR_KEY: randomBytes(32).toString('base64'),
			NOTIFICATION_RETRY_MS: '10',
			ALERT_END_MS: '1000',
			NODE_NAME: 'node-1',
		});
		await service.addSite('north');
	});
	after(async () => {
		await service[Symbol.asyncDispose]();
		await webhook[Symbol.asyncDispose]();
		await elsewhere[Symbol.asyncDispose]();
	});

	const metric = async (name: string) => {
		const metrics = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		return new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1];
	};

	test('its node tells once that it is away, and once that it is back; both are listed then', async () => {
		const { administration } = service;
		const alerts = ['TributaryDatabaseDown'];
		const { id } = await act(administration, 'notification add', { by: 'webhook', to: webhook.url, network: true, alerts });
		const ofSite = await act(administration, 'notification add', { by: 'webhook', to: elsewhere.url, site: 'north' });
		await eventually(async () => (await metric('tributary_notification_recipients')) === '1', 'the node remembers whom it would tell');
		webhook.first.push(503);
		await takeAway(service);
		await eventually(async () => (await metric('tributary_database_up')) === '0', 'the node misses its database');
		// The alert needs half a minute, and figures are taken every ten seconds.
		const slowly = () => new Promise((resolve) => setTimeout(resolve, 100));
		await eventually(async () => {
			await slowly();
			return webhook.calls.length > 0;
		}, 'the alert, while the database is away');
		await eventually(async () => {
			await slowly();
			return (await metric('tributary_notifications_total\\{by="webhook",outcome="sent"\\}')) === '1';
		}, 'the second attempt, while the database is away');
		await giveBack(service);
		await eventually(async () => {
			await slowly();
			return webhook.calls.some(({ notice }) => notice.event === 'alert.end');
		}, 'the end');
		const ids = webhook.calls.map(({ headers, notice }) => `${notice.event} ${headers['tributary-delivery']}`);
		const deliveries = await act(administration, 'notification deliveries', { id });
		assert.deepEqual(deliveries.map(told), [
			['end', 'sent', 1, null],
			['start', 'sent', 2, null],
		]);
		assert.deepEqual(ids, [`alert.start ${deliveries[1].id}`, `alert.start ${deliveries[1].id}`, `alert.end ${deliveries[0].id}`]);
		const [start, , end] = webhook.calls.map(({ notice }) => notice.alert);
		assert.deepEqual([start.name, start.severity, start.node, start.site], ['TributaryDatabaseDown', 'critical', 'node-1', null]);
		assert.deepEqual([start.id, start.ended], [end.id, null]);
		assert.match(start.runbook, /Bring the database back/);
		assert.equal(elsewhere.calls.length, 0, 'a site is not told of the node');
		assert.deepEqual(await act(administration, 'notification deliveries', { id: ofSite.id }), []);
	});
});

describe('what a node remembers', () => {
	let site: TestAdministration;
	let webhook: WebhookReceiver;
	let id: string;
	/** `lost`: the statement is carried out, and its answer does not come. */
	let mode: 'up' | 'away' | 'lost' = 'up';
	let away: AwayTeller;
	let recorder: AlertRecorder;

	before(async () => {
		[site, webhook] = [await testAdministration(), await webhookReceiver()];
		const { database, limits, notifications } = site.context;
		const flaky: StatementRunner = {
			run: async (statement, values) => {
				if (mode === 'away') throw new Error('the database is away');
				const rows = await database.run(statement, values);
				if (mode === 'lost') throw new Error('the answer was lost');
				return rows;
			},
		};
		const nowMs = () => Date.now();
		const { sender, open } = notifications;
		const metrics = createMetrics();
		away = new AwayTeller({ sender, open, limits, metrics, log: silentLog, node: 'node-1', consoleUrl: () => 'https://console', nowMs });
		recorder = new AlertRecorder({ database: flaky, nodeId: '1', node: 'node-1', endMs: 60_000, away, log: silentLog, nowMs });
		({ id } = await act(site.context, 'notification add', { by: 'webhook', to: webhook.url, network: true }));
		away.remember(await database.run(readNodeRecipients, []));
	});
	after(async () => {
		await away.close();
		await webhook[Symbol.asyncDispose]();
		await site[Symbol.asyncDispose]();
	});

	const alertOf = (name: string, more: Partial<Alert> = {}): Alert => ({
		...{ key: `${name} {}`, name, summary: name, sinceMs: Date.now(), severity: 'warning', site: undefined, ofNetwork: false, list: '/x' },
		...more,
	});
	const starts = (name: string) => webhook.calls.filter(({ notice }) => notice.alert.name === name);
	const listed = async (name: string) =>
		(await act(site.context, 'notification deliveries', { id })).filter(({ alert }: FhirBody) => alert === name);

	test('is told at once, although a commit of unknown outcome has listed it as waiting; then it is listed as sent', async () => {
		const alert = alertOf('TributaryDiskFull');
		mode = 'lost';
		await recorder.record([alert]);
		assert.deepEqual((await listed(alert.name)).map(told), [['start', 'waiting', 0, null]]);
		await eventually(() => starts(alert.name).length === 1, 'it is told');
		mode = 'up';
		await eventually(async () => {
			await recorder.record([alert]);
			return (await listed(alert.name))[0]?.state === 'sent';
		}, 'it is listed');
		assert.deepEqual((await listed(alert.name)).map(told), [['start', 'sent', 1, null]]);
		const [call] = starts(alert.name);
		assert.equal((await listed(alert.name))[0].id, call?.headers['tributary-delivery']);
		assert.equal(call?.notice.alert.list, 'https://console/x');
	});

	test('is not told again when the database goes away another time before the alert has ended', async () => {
		const alert = alertOf('TributaryDiskFull');
		await recorder.record([]);
		mode = 'away';
		await recorder.record([alert]);
		await recorder.record([alert, alertOf('TributaryShardDown')]);
		await eventually(() => starts('TributaryShardDown').length === 1, 'what is new is told');
		assert.equal(starts(alert.name).length, 1);
		mode = 'up';
		await eventually(async () => {
			await recorder.record([alert]);
			return (await listed('TributaryShardDown'))[0]?.state === 'sent';
		}, 'what was told is listed, although it has ended');
		assert.equal((await listed(alert.name)).length, 1);
	});

	test('waits for the database where all nodes would tell the same, and what failed goes on there', async () => {
		mode = 'away';
		webhook.status = 503;
		const network = alertOf('TributaryKeysExpiring', { ofNetwork: true });
		const ofSite = alertOf('TributaryFeedSilent', { site: 'north' });
		const failing = alertOf('TributaryObjectStoreDown');
		await recorder.record([network, ofSite, failing]);
		await eventually(() => starts(failing.name).length === 1, 'an attempt');
		mode = 'up';
		await eventually(async () => {
			await recorder.record([network, ofSite, failing]);
			return (await listed(failing.name)).length === 1;
		}, 'it is listed');
		assert.deepEqual((await listed(failing.name)).map(told), [['start', 'waiting', 1, 'the receiver answered 503']]);
		assert.ok((await listed(failing.name))[0].next_at > new Date().toISOString());
		for (const { name } of [network, ofSite]) {
			assert.deepEqual((await listed(name)).map(told), [['start', 'waiting', 0, null]]);
			assert.equal(starts(name).length, 0);
		}
	});
});
