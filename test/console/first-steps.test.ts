import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { addSite } from '#administration/sites.ts';
import { assertFits, type ConsoleBrowser, consoleBrowser, goTo, seriousViolations, signInOnPage } from '#test/support/browser.ts';
import { temporaryFolder } from '#test/support/dcmtk.ts';
import { without } from '#test/support/needs.ts';
import { pasted } from '#test/support/pasted.ts';
import { type TestService, testService } from '#test/support/service.ts';

async function lineOn(page: Page): Promise<string> {
	return (await page.locator('[data-line]').textContent())?.trim() ?? assert.fail('there is no line to paste');
}

describe('a fresh console', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	let page: Page;
	before(async () => {
		service = await testService();
		browser = await consoleBrowser(service);
		page = await browser.open({ reducedMotion: 'reduce' });
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	test('leads from a site over a sender to a first message that turns the page green, by the line that it shows', async () => {
		await signInOnPage(service, page);
		await page.getByRole('heading', { level: 1, name: 'First steps' }).waitFor();
		for (const [path, heading] of [
			['/patients', 'Patients'],
			['/clients', 'Integration clients'],
			['/keys', 'API keys'],
		] as const) {
			await goTo(page, path, heading);
			await page.getByRole('link', { name: 'Create the first one' }).waitFor();
			assert.equal(await page.getByText('Choose a site').count(), 0, heading);
		}
		await page.getByRole('link', { name: 'Create the first one' }).click();
		await page.getByLabel('Name', { exact: true }).fill('North Hospital');
		await page.getByLabel('Short name').fill('north');
		await page.getByRole('button', { name: 'Create site' }).click();
		await page.getByRole('button', { name: 'HL7 v2 over MLLP' }).click();
		await page.getByLabel('Name', { exact: true }).fill('Laboratory');
		assert.deepEqual(await seriousViolations(page), []);
		await page.getByRole('button', { name: 'Let it send' }).click();
		await page.getByText('Waiting for the first message…').waitFor();
		await page.setViewportSize({ width: 390, height: 844 });
		await assertFits(page);
		assert.deepEqual(await seriousViolations(page), []);
		assert.match((await pasted(await lineOn(page))).output, /MSA\|AA\|1/);
		await page.locator('.first-message.good').waitFor();
		await page.getByRole('link', { name: 'Open it' }).click();
		await page.getByText('ADT^A01').first().waitFor();
	});

	test('gives a key with the line that uses it', async () => {
		await addSite(service.administration, { slug: 'south', name: 'South Hospital' });
		await goTo(page, '/first-steps?site=south', 'First steps');
		await page.getByRole('button', { name: 'HL7 v2 over HTTP' }).click();
		await page.getByLabel('Name', { exact: true }).fill('First try');
		await page.getByRole('button', { name: 'Create key' }).click();
		assert.match((await pasted(await lineOn(page))).output, /"message_type":"ADT\^A01"/);
		await page.locator('.first-message.good').waitFor();
		await goTo(page, '/messages?site=south', 'Messages');
		await page
			.getByRole('row', { name: /ADT\^A01.*First try/ })
			.getByRole('link')
			.first()
			.click();
		await page.getByRole('link', { name: 'First try' }).waitFor();
	});

	test('gives a line of storescu for a modality, and shows the images when they are here', { skip: without('dcmtk') }, async () => {
		await goTo(page, '/first-steps?site=south', 'First steps');
		await page.getByRole('button', { name: 'DICOM' }).click();
		await page.getByLabel('Name', { exact: true }).fill('CT scanner');
		await page.getByLabel('AE title of the sender').fill('CT01');
		await page.getByLabel('AE title of the site').fill('SOUTH');
		await page.getByRole('button', { name: 'Let it send' }).click();
		using folder = temporaryFolder();
		const { output, errors } = await pasted((await lineOn(page)).replaceAll('image.dcm', join(folder.path, 'image.dcm')));
		await page
			.locator('.first-message.good')
			.waitFor()
			.catch((error: unknown) => assert.fail(`${output}${errors}\n${error}`));
		await page.getByRole('link', { name: 'Open the studies' }).click();
		await page.getByRole('heading', { level: 1, name: 'Studies' }).waitFor();
	});
});
