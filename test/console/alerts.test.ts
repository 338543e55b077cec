import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { addSite } from '#administration/sites.ts';
import { resetPassword } from '#administration/users.ts';
import { alertRules } from '#alerts/rules/index.ts';
import { type ConsoleBrowser, consoleBrowser, goTo, ownPassword, seriousViolations, signInOnPage } from '#test/support/browser.ts';
import { without } from '#test/support/needs.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { webhookReceiver } from '#test/support/webhook-receiver.ts';

describe('alerts in the console', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	before(async () => {
		service = await testService();
		await addSite(service.administration, { slug: 'north', name: 'North Hospital' });
		browser = await consoleBrowser(service);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	/** The page of the overview, where the service says that these alerts are active. */
	async function overviewWith(page: Page, alerts: readonly object[]): Promise<void> {
		// A stream that is open and tells nothing further.
		await page.addInitScript(
			'globalThis.EventSource = class extends EventTarget { constructor() { super(); setTimeout(() => this.dispatchEvent(new Event("open"))); } close() {} }',
		);
		await page.route('**/api/v1/overview', async (route) => {
			const answer = await route.fetch();
			await route.fulfill({ json: { ...((await answer.json()) as object), alerts } });
		});
	}

	test('the one-time password is typed once: the form asks for it only after the page was loaded anew', async () => {
		const page = await browser.open();
		const { password } = await resetPassword(service.administration, 'owner@example.org');
		await page.goto('/');
		await page.getByLabel('E-mail').fill('owner@example.org');
		await page.getByLabel('Password').fill(password);
		await page.getByRole('button', { name: 'Sign in' }).click();
		await page.getByLabel('New password', { exact: true }).waitFor();
		assert.equal(await page.getByLabel('One-time password').count(), 0);
		await page.reload();
		await page.getByLabel('One-time password').fill(password);
		await page.getByLabel('New password', { exact: true }).fill(ownPassword);
		await page.getByLabel('New password again').fill(ownPassword);
		await page.getByRole('button', { name: 'Change password' }).click();
		await page.locator('#navigation').waitFor({ state: 'attached' });
		await page.context().close();
	});

	test('what the service does not tell is unknown, and since when; it is not well', async () => {
		const page = await browser.open();
		await signInOnPage(service, page);
		await goTo(page, '/overview', 'Overview');
		await page.getByText('No alerts').waitFor();
		await page.route('**/api/v1/**', (route) => route.abort());
		await page.reload();
		await page.getByText('The console is not connected').waitFor();
		await page.unroute('**/api/v1/**');
		await page.route('**/api/v1/overview/live', (route) => route.abort());
		await page.reload();
		await page.getByText(/^Alerts have been unknown since /).waitFor();
		assert.equal(await page.getByText('No alerts').count(), 0);
		const tile = page.getByRole('region', { name: 'Refused' });
		assert.match((await tile.textContent()) ?? '', /Unknown\s*since /);
		assert.deepEqual(await seriousViolations(page), []);
		await page.unroute('**/api/v1/overview/live');
		await page.getByText('No alerts').waitFor();
		assert.doesNotMatch((await tile.textContent()) ?? '', /Unknown/);
		await page.context().close();
	});

	test('an alert says what to do and leads to its rows, and a tile to its list, in the colour of its own gravest alert', async () => {
		const page = await browser.open();
		await signInOnPage(service, page);
		const of = (name: string) => {
			const { runbook, severity, list = null } = alertRules.find((rule) => rule.name === name) ?? assert.fail(name);
			return {
				name,
				since: new Date().toISOString(),
				summary: `about ${name}`,
				severity,
				runbook,
				list: list?.replace(/\{\{.*\}\}/, 'north') ?? null,
			};
		};
		await overviewWith(
			page,
			['TributaryUnmatchedMessages', 'TributaryMailboxFull', 'TributaryObjectStoreDown', 'TributaryRefusalsHigh'].map(of),
		);
		await goTo(page, '/overview', 'Overview');
		const row = page.getByRole('listitem').filter({ hasText: 'TributaryRefusalsHigh' });
		await row.getByText('What to do').click();
		await row.getByText('Correct the configuration, then replay them.').waitFor();
		await row.getByText('tributary messages list --site <slug> --outcome refused').waitFor();
		for (const [title, tone] of [
			['Refused', 'warning'],
			['Waiting in mailboxes', 'warning'],
			['Storage', 'danger'],
			['Messages received', ''],
		] as const) {
			const classes = (await page.getByRole('region', { name: title, exact: true }).getAttribute('class')) ?? '';
			assert.equal(classes.replace('tile', '').trim(), tone, title);
		}
		assert.deepEqual(await seriousViolations(page), []);
		await row.getByRole('link', { name: 'Show what it is about' }).click();
		await page.getByRole('heading', { level: 1, name: 'Failures' }).waitFor();
		assert.equal(new URL(page.url()).search, '?site=north');
		await page.context().close();
	});

	test('every tile and every alert leads to a screen that is there', async () => {
		const page = await browser.open();
		await signInOnPage(service, page);
		await goTo(page, '/overview', 'Overview');
		const tiles = await page.locator('.tile h2 a').evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
		assert.equal(tiles.length, await page.locator('.tile').count());
		for (const list of new Set([...tiles, ...alertRules.flatMap((rule) => rule.list ?? [])])) {
			await page.goto(list.replace(/\{\{.*\}\}/, 'north'));
			await page.locator('h1').waitFor();
			assert.doesNotMatch((await page.locator('h1').textContent()) ?? '', /not found|no such/i, list);
		}
		await page.context().close();
	});

	test('a person has a webhook told: the key once, a test, a failure with its reason, quiet, and no more', async () => {
		await using receiver = await webhookReceiver();
		const page = await browser.open();
		await signInOnPage(service, page);
		await goTo(page, '/notifications', 'Notifications');
		await page.getByRole('button', { name: 'New notification' }).first().click();
		await page.getByLabel('Webhook').check();
		await page.getByLabel('URL').fill(receiver.url);
		await page.getByRole('button', { name: 'Add', exact: true }).click();
		await page.getByRole('dialog', { name: 'The key of the webhook' }).waitFor();
		assert.match((await page.locator('[data-secret]').textContent()) ?? '', /^[\w-]{43}$/);
		assert.deepEqual(await seriousViolations(page), []);
		await page.getByRole('button', { name: 'Done' }).click();
		await page.getByRole('link', { name: receiver.url }).click();
		await page.getByRole('heading', { level: 1, name: receiver.url }).waitFor();
		await page.getByRole('button', { name: 'Send a test' }).click();
		await page.getByText(`A test was sent to ${receiver.url}.`).first().waitFor();
		assert.equal(receiver.calls.length, 1);
		receiver.status = 500;
		await page.getByRole('button', { name: 'Send a test' }).click();
		await page.getByText('The test could not be sent: the receiver answered 500.').first().waitFor();
		await page.route('**/notifications/*/test', (route) => route.fulfill({ status: 409, json: { error: 'no test at the moment' } }));
		await page.getByRole('button', { name: 'Send a test' }).click();
		await page.getByText('no test at the moment').first().waitFor();
		await page.unroute('**/notifications/*/test');
		await page.getByLabel('On', { exact: true }).uncheck();
		await page.getByRole('button', { name: 'Save' }).click();
		await page.getByText('Quiet').waitFor();
		await page.getByRole('button', { name: 'Remove…' }).click();
		await page.getByRole('button', { name: 'Remove', exact: true }).click();
		await page.getByText('No notifications yet').waitFor();
		await page.context().close();
	});

	test('of all nodes are listed, with what to do, and those that have ended when they are asked for', async () => {
		const rule = alertRules.find(({ name }) => name === 'TributaryDatabaseDown') ?? assert.fail();
		const of = (summary: string, node: string, ended: string | null) =>
			service.rows(
				`insert into alert (id, key, name, severity, summary, list, about_site, node, since, started_at, seen_at, ended_at)
				values (gen_random_uuid(), $1, $2, $3, $1, '/messages', '00000000-0000-0000-0000-000000000000', $4, now(), now(), now(), $5)`,
				[summary, rule.name, rule.severity, node, ended],
			);
		await of('the database of the third node is away', 'node-3', null);
		await of('the database of the second node was away', 'node-2', new Date().toISOString());
		const page = await browser.open();
		await signInOnPage(service, page);
		await goTo(page, '/alerts', 'Alerts');
		const row = page.getByRole('row', { name: /The database of the third node is away/ });
		await row.getByText('node-3').waitFor();
		await row.getByText('What to do').click();
		await row.getByText(rule.runbook.slice(0, 20)).waitFor();
		assert.equal(await page.getByText(/second node was away/).count(), 0);
		await page.getByLabel('Which').selectOption('ended');
		await page
			.getByRole('row', { name: /second node was away/ })
			.getByText('node-2')
			.waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await row.getByRole('link', { name: 'Show' }).click();
		await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor();
		await page.context().close();
	});
});
