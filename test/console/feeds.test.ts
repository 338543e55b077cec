import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { setClient } from '#administration/clients.ts';
import { setSite } from '#administration/sites.ts';
import { adt } from '#test/support/adt.ts';
import { assertFits, type ConsoleBrowser, consoleBrowser, goTo, seriousViolations, signInOnPage } from '#test/support/browser.ts';
import { sendAll } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

describe('feeds in the console', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	let page: Page;
	before(async () => {
		service = await testService();
		await service.addSite('north', { name: 'Admission', sending_application: 'ADT' });
		const known = [1, 2, 3].map((number) => adt(`known-${number}`, 'FEED', number));
		const codes = await sendAll(service, ...known, adt('stranger', 'FEED', 4).replace('|ADT|', '|LABOR|'));
		assert.deepEqual(codes, ['AA', 'AA', 'AA', 'AE']);
		await eventually(async () => (await service.rows('select from feed_hour')).length === 2, 'the figures');
		// A node shows the figures of the time before its start, too.
		await service.restart();
		browser = await consoleBrowser(service);
		page = await browser.open();
		await signInOnPage(service, page);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	test('are the home screen: who sends, how much, and who fails, by site and over the network', async () => {
		await goTo(page, '/', 'Feeds');
		const row = page.getByRole('row', { name: /Admission/ });
		await row.getByText('Connected').waitFor();
		await page.getByRole('img', { name: /Messages an hour from Admission: now 3/ }).waitFor();
		await page.getByRole('img', { name: 'north: 4 messages, 1 refused' }).waitFor();
		await page.getByRole('button', { name: 'Week' }).click();
		await page.getByRole('button', { name: 'Week', pressed: true }).waitFor();
		await page.getByRole('button', { name: '1 failing' }).click();
		assert.equal(await row.count(), 0);
		assert.equal(new URL(page.url()).searchParams.get('state'), 'failing');
		await page.getByRole('link', { name: /Unmatched traffic/ }).waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await page.getByRole('button', { name: '1 failing' }).click();
		await row.waitFor();
		const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
		assert.equal(download.suggestedFilename(), 'feeds.csv');
		const [names = '', ...lines] = readFileSync(await download.path(), 'utf8')
			.trim()
			.split('\r\n');
		assert.ok(names.startsWith('"id","site","kind","name","protocols","state"'), names);
		assert.ok(
			lines.some((line) => line.includes('"north","client","Admission","hl7-mllp","connected"')),
			lines.join('\n'),
		);
		assert.equal(lines.length, await page.locator('main [data-row]').count());
	});

	test('show on their page which settings hold for them, and where each comes from', async () => {
		await setSite(service.administration, { slug: 'north', time_zone: 'Europe/Berlin' });
		const [client] = await service.rows<{ id: string }>("select id from integration_client where name = 'Admission'");
		await setClient(service.administration, { id: client?.id ?? '', charset: '8859/1' });
		await goTo(page, '/', 'Feeds');
		await page.getByRole('link', { name: /Admission/ }).click();
		const inForce = page.getByRole('region', { name: 'Settings in force' });
		const value = (label: string) => inForce.locator('dl > div').filter({ has: page.getByText(label, { exact: true }) });
		await value('Time zone').getByText('Europe/Berlin').waitFor();
		await value('Time zone').getByText('set for the site').waitFor();
		await value('Character set').getByText('set for this feed').waitFor();
		assert.equal(await page.getByRole('link', { name: 'Feeds', exact: true }).first().getAttribute('aria-current'), 'page');
		await value('Another person under a known number').getByText('the default').waitFor();
		assert.match(String(await value('Another person under a known number').textContent()), /Flag the default/);
		assert.match(String(await value('Paused').textContent()), /^PausedNo the default/);
		// The letters of the axes have the size that the style gives them: what is drawn is as wide as its place.
		const chart = page.getByRole('img', { name: /^Messages an hour, / });
		const drawn = Number((await chart.getAttribute('viewBox'))?.split(' ')[2]);
		assert.ok(Math.abs(drawn - ((await chart.boundingBox())?.width ?? 0)) <= 1, String(drawn));
		await inForce.getByText('Settings of its site').click();
		await inForce.getByText('what MESSAGE_RETENTION_DAYS says').waitFor();
		await inForce.getByText('from the environment').first().waitFor();
		assert.deepEqual(await seriousViolations(page), []);
	});

	test('that a node counted before its restart are in the last hour of the overview', async () => {
		await goTo(page, '/overview', 'Overview');
		await page.getByText(/^4 messages since \d\d:\d\d, all nodes$|^4 messages in the last hour, all nodes$/).waitFor();
	});

	test('are paused with a reason, resumed, and tested by a message that changes nothing', async () => {
		await goTo(page, '/', 'Feeds');
		await page.getByRole('link', { name: /Admission/ }).click();
		await page.getByRole('heading', { level: 1, name: 'Admission' }).waitFor();
		await page.getByRole('button', { name: 'Pause…' }).click();
		await page.getByLabel('Reason, for the audit trail').fill('new interface engine');
		await page.getByRole('button', { name: 'Pause', exact: true }).click();
		await page.route('**/feeds/*/resume', (route) => route.fulfill({ status: 409, json: { error: 'it is changed at the moment' } }));
		await page.getByRole('button', { name: 'Resume' }).click();
		await page.getByText('it is changed at the moment').first().waitFor();
		await page.unroute('**/feeds/*/resume');
		await page.getByRole('button', { name: 'Resume' }).click();
		await page.getByText('client.resume').waitFor();
		await page.getByRole('button', { name: 'Send a test message…' }).click();
		await page.getByRole('button', { name: 'Send', exact: true }).click();
		await page.getByText(/^AA after/).waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await page.getByRole('button', { name: 'Close' }).first().click();
		const [tested] = await service.rows<{ outcome: string; message_type: string }>(
			"select outcome, message_type from message_log where surface = 'administration'",
		);
		assert.deepEqual(tested, { outcome: 'ignored', message_type: 'ADT^A08' });
		assert.deepEqual(await service.rows("select from patient_identifier where value = 'TEST'"), []);
	});

	test('show on their page what was refused, by its cause, and what came last', async () => {
		assert.deepEqual(await sendAll(service, adt('nobody', '', 5)), ['AE']);
		await goTo(page, '/', 'Feeds');
		await page.getByRole('link', { name: /Admission/ }).click();
		const latest = page.getByRole('table', { name: 'Latest messages' });
		await latest.getByRole('row', { name: /nobody.*refused/i }).waitFor();
		await latest.getByRole('row', { name: /known-3.*accepted/i }).waitFor();
		await page.getByRole('table', { name: 'Failures by cause' }).getByRole('link', { name: /PID-3/ }).click();
		await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor();
		await page.getByRole('row', { name: /nobody/ }).waitFor();
		assert.equal(await page.locator('main [data-row-link]').count(), 1);
	});

	test('that match nobody become a client, which then takes what came', async () => {
		await goTo(page, '/unmatched', 'Unmatched traffic');
		await page.getByRole('row', { name: /LABOR/ }).getByRole('link').first().click();
		await page.getByRole('heading', { level: 1, name: /Unmatched ADT/ }).waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await page.getByRole('button', { name: 'Replay' }).click();
		await page.getByText(/no client takes it/i).waitFor();
		await page.getByRole('button', { name: 'Make a client of it…' }).click();
		assert.equal(await page.getByLabel(/^Sending application/).inputValue(), 'LABOR');
		await page.getByRole('button', { name: 'Create client' }).click();
		await page.getByRole('dialog').waitFor({ state: 'detached' });
		await page.getByRole('button', { name: 'Replay' }).click();
		await page.getByText('Accepted').first().waitFor();
		const [logged] = await service.rows<{ outcome: string }>("select outcome from message_log where control_id = 'stranger'");
		assert.equal(logged?.outcome, 'accepted');
	});

	test('fit a narrow window', async () => {
		await page.setViewportSize({ width: 390, height: 844 });
		for (const [path, heading] of [
			['/', 'Feeds'],
			['/unmatched', 'Unmatched traffic'],
		] as const) {
			await goTo(page, path, heading);
			await assertFits(page);
		}
	});
});
