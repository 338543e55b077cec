import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { addClient, setClient } from '#administration/clients.ts';
import { adt } from '#test/support/adt.ts';
import { type ConsoleBrowser, consoleBrowser, settled, signInOnPage } from '#test/support/browser.ts';
import { opened, sendImages } from '#test/support/images.ts';
import { sendAll } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

/** Tasks of a day, each from the home screen. docs/console.md lists them with these numbers of clicks. */
const clicksMax = 4;

const countClicks = `addEventListener('click', (event) => {
	if (event.isTrusted && event.detail > 0) sessionStorage.setItem('clicks', Number(sessionStorage.getItem('clicks') ?? 0) + 1);
}, true)`;

const yesterday = new Date(Date.now() - 86_400_000);
const dayOf = (at: Date) => at.toISOString().slice(0, 10);

interface Task {
	name: string;
	clicks: number;
	/** Typing is no click. */
	carryOut(page: Page): Promise<void>;
}

const screen = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click();

const tasks: readonly Task[] = [
	{
		name: 'find why a message failed, and mend it',
		clicks: 4,
		carryOut: async (page) => {
			await screen(page, 'Failures');
			await page.getByRole('row').filter({ hasText: 'ADT^A28' }).getByRole('link', { name: 'Mend' }).click();
			await page.getByRole('button', { name: 'Accept ADT^A28 from this sender…' }).click();
			await page.getByRole('dialog').getByRole('button', { name: 'Change it and replay 2' }).click();
			await page.getByText('The setting is changed, and the replay of 2 messages has started.').waitFor();
		},
	},
	{
		name: "take a cause's messages again",
		clicks: 3,
		carryOut: async (page) => {
			await screen(page, 'Failures');
			await page.getByRole('row').filter({ hasText: 'PID-3 has no identifier' }).getByRole('button', { name: 'Replay…' }).click();
			await page.getByRole('dialog').getByRole('button', { name: 'Replay anyway' }).click();
			await page.locator('.run-line').filter({ hasText: 'refused again' }).waitFor();
		},
	},
	{
		name: 'see what a message changed',
		clicks: 2,
		carryOut: async (page) => {
			await screen(page, 'Messages');
			await page.getByRole('row').filter({ hasText: 'ADT^A08' }).locator('[data-row-link]').first().click();
			await page.getByRole('region', { name: 'Outcome' }).getByRole('link').first().waitFor();
		},
	},
	{
		name: 'see who is silent',
		clicks: 1,
		carryOut: async (page) => {
			await page.getByRole('button', { name: '1 silent' }).click();
			await page.getByRole('row').filter({ hasText: 'Archive of the ward' }).waitFor();
			assert.equal(await page.locator('main [data-row-link]').count(), 1);
			assert.equal(await page.getByRole('link', { name: 'Silent', exact: true }).getAttribute('href'), '/alerts?site=north');
		},
	},
	{
		name: "show yesterday's CT of a patient",
		clicks: 4,
		carryOut: async (page) => {
			await screen(page, 'Studies');
			await page.getByRole('searchbox', { name: 'Patient' }).fill('4711');
			await page.getByLabel('Modality').fill('CT');
			await page.keyboard.press('Enter');
			await page.getByRole('combobox', { name: 'Time' }).click();
			await page.getByRole('combobox', { name: 'Time' }).selectOption('yesterday');
			await page.keyboard.press('Escape');
			await settled(page);
			assert.equal(await page.locator('main [data-row-link]').count(), 1);
			await page.getByRole('link', { name: 'Abdomen' }).click();
			await page.getByRole('link', { name: 'View', exact: true }).click();
			await page.locator('.image-canvas').waitFor();
		},
	},
	{
		name: 'connect a new laboratory from its unmatched message',
		clicks: 4,
		carryOut: async (page) => {
			await page.getByRole('row').filter({ hasText: 'Unmatched traffic' }).getByRole('link').first().click();
			await page.getByRole('row').filter({ hasText: 'LABOR' }).getByRole('link').first().click();
			await page.getByRole('button', { name: 'Make a client of it…' }).click();
			await page.getByRole('dialog').getByRole('button', { name: 'Create client' }).click();
			await page.getByText('LABOR can now send to north.').waitFor();
		},
	},
	{
		name: 'move an image to the right patient',
		clicks: 4,
		carryOut: async (page) => {
			await screen(page, 'Studies');
			await page.getByRole('searchbox', { name: 'Search studies' }).fill('ACC-CT');
			await page.getByRole('link', { name: 'Abdomen' }).click();
			await page.getByRole('button', { name: 'Split off…' }).click();
			const dialog = page.getByRole('dialog');
			await dialog.getByLabel('Number or id of the patient').fill('4712');
			await dialog.getByLabel('Single images, by SOP Instance UID').fill('2.999.8.1.1.2');
			await page.keyboard.press('Tab');
			await dialog.getByText(/^1 of 3 images goes from NumberRivers, .* to .*Number2.*, born 1970-01-31\.$/).waitFor();
			await dialog.getByRole('button', { name: 'Split off' }).click();
			await page.getByText('The images are a study of their own now.').waitFor();
		},
	},
	{
		name: 'see who read a patient',
		clicks: 3,
		carryOut: async (page) => {
			await screen(page, 'Patients');
			await page.getByRole('searchbox').fill('4711');
			await page.keyboard.press('Enter');
			await page.locator('main [data-row-link]').first().click();
			await page.getByRole('tab', { name: 'Who read it' }).click();
			await page.getByRole('row').filter({ hasText: 'patient.read' }).filter({ hasText: 'owner@example.org' }).first().waitFor();
		},
	},
	{
		name: "print a patient's results of a year",
		clicks: 4,
		carryOut: async (page) => {
			await screen(page, 'Patients');
			await page.getByRole('searchbox').fill('4711');
			await page.keyboard.press('Enter');
			await page.locator('main [data-row-link]').first().click();
			await settled(page);
			await page.getByLabel('Period').click();
			await page.getByLabel('Period').selectOption({ label: 'Last year' });
			await page.keyboard.press('Escape');
			await settled(page);
			assert.match((await page.locator('.print-head').textContent()) ?? '', /Last year/);
			await page.evaluate('window.print = () => { document.title = "printed" }');
			await page.getByRole('button', { name: 'Print' }).click();
			assert.equal(await page.title(), 'printed');
		},
	},
	{
		name: 'revoke a leaked key',
		clicks: 3,
		carryOut: async (page) => {
			await screen(page, 'API keys');
			await page.locator('main').getByRole('button', { name: 'Revoke…' }).first().click();
			await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
			await page.getByText('The key is revoked.').waitFor();
		},
	},
];

/** A sender that was heard an hour ago, and should have been heard since. */
async function fallSilent(service: TestService, name: string): Promise<void> {
	const [client] = await service.rows<{ id: string }>('select id from integration_client where name = $1', [name]);
	assert.ok(client);
	await setClient(service.administration, { id: client.id, silent_after: '10m' });
	await service.rows(
		`insert into feed_hour (site_id, feed, hour, received, refused, last_at, received_by_minute, refused_by_minute, acknowledged)
		select site_id, id::text, date_trunc('hour', now() - interval '1 hour', 'UTC'), 60, 0, now() - interval '1 hour',
			array_fill(1, array[60]), array_fill(0, array[60]), array_fill(0, array[15])
		from integration_client where id = $1`,
		[client.id],
	);
	await eventually(async () => (await service.rows('select from feed_hour')).length > 1, 'the figures');
}

describe('tasks of a day', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	let page: Page;
	before(async () => {
		service = await testService();
		await service.addSite('north', { sending_application: 'ADT' });
		await addClient(service.administration, {
			site: 'north',
			name: 'Archive of the ward',
			protocols: ['hl7-mllp'],
			allowed_ips: ['192.0.2.9'],
		});
		const stranger = adt('6', 'c', 6).replace('|ADT|', '|LABOR|');
		const refused = [adt('2', 'a', 2, 'A28'), adt('3', 'b', 3, 'A28'), adt('4', '', 4)];
		const codes = await sendAll(service, adt('1', '4711', 'Rivers'), adt('5', '4712', 2), stranger, ...refused);
		assert.deepEqual(codes, ['AA', 'AA', 'AE', 'AE', 'AE', 'AE']);
		await fallSilent(service, 'Archive of the ward');
		await opened(service, 'north');
		const image = { studyUid: '2.999.8.1', seriesUid: '2.999.8.1.1', modality: 'CT', accession: 'ACC-CT', studyDescription: 'Abdomen' };
		const of = { ...image, patientId: '4711', date: dayOf(yesterday).replaceAll('-', ''), time: '120000' };
		await sendImages(
			service.port('dimse'),
			'NORTH',
			[1, 2, 3].map((number) => ({ ...of, sopInstanceUid: `2.999.8.1.1.${number}`, number })),
		);
		browser = await consoleBrowser(service);
		page = await browser.open({ viewport: { width: 1440, height: 900 } });
		await page.addInitScript(countClicks);
		await signInOnPage(service, page);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	for (const { name, clicks, carryOut } of tasks) {
		test(`${name}: ${clicks} clicks`, async () => {
			assert.ok(clicks <= clicksMax);
			await page.goto('/');
			await settled(page);
			await page.evaluate("sessionStorage.setItem('clicks', 0)");
			await carryOut(page);
			assert.equal(Number(await page.evaluate("sessionStorage.getItem('clicks')")), clicks);
		});
	}
});
